import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import { getLocale } from "next-intl/server";
import { getService } from "@/lib/process";
import "./globals.css";

export async function generateMetadata(): Promise<Metadata> {
  return { title: getService().config.name, robots: { index: false, follow: false } };
}

export const viewport: Viewport = { width: "device-width", initialScale: 1, colorScheme: "light dark" };

export default async function Layout({ children }: { children: React.ReactNode }) {
  // Read here so that every page is rendered per request: only then do its scripts carry the CSP nonce.
  await headers();
  return (
    <html lang={await getLocale()}>
      <body>{children}</body>
    </html>
  );
}
