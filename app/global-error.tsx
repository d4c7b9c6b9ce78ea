"use client";

import "./globals.css";
import PageError from "./error";

export default function GlobalError() {
  return (
    <html lang="en">
      <body>
        <PageError />
      </body>
    </html>
  );
}
