# Countersign. The built tree belongs to root and is never written to: run it with a read-only root file system, as compose.yaml does.
# For a base that cannot change under its name: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /opt/countersign
ENV NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json ./
COPY sdk/package.json sdk/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build \
  && npm prune --omit=dev --no-audit --no-fund \
  && rm -rf .next/cache dist/*.map

FROM ${NODE_IMAGE}
WORKDIR /opt/countersign
COPY --from=build /opt/countersign ./
RUN install -d -o node -g node -m 0700 /var/lib/countersign
ENV NODE_ENV=production \
  NEXT_TELEMETRY_DISABLED=1 \
  HOST=0.0.0.0 \
  PORT=3000 \
  COUNTERSIGN_DATA_DIR=/var/lib/countersign
# `node` of the base image, as numbers: who checks for root needs no list of names.
USER 1000:1000
EXPOSE 3000
# With SURFACES, keep one listener on PORT, or replace this check.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# One process, so that the signal to stop reaches it. The worker alone: node --import tsx scripts/worker.ts
CMD ["node", "dist/server.js"]
