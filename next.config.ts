import type { NextConfig } from "next";
import createNextIntlPlugin from "next-intl/plugin";

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  typedRoutes: false,
  images: { unoptimized: true },
  serverExternalPackages: ["@node-rs/argon2", "pg", "pino"],
  devIndicators: false,
  // `npm test` checks the types of everything, tests included; a production build needs neither them nor their packages.
  typescript: { ignoreBuildErrors: true },
};

export default createNextIntlPlugin("./app/i18n/request.ts")(config);
