import type { NextConfig } from "next";
import createNextIntlPlugin from "next-intl/plugin";

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  typedRoutes: false,
  images: { unoptimized: true },
  serverExternalPackages: ["@node-rs/argon2", "pg", "pino"],
  devIndicators: false,
};

export default createNextIntlPlugin("./app/i18n/request.ts")(config);
