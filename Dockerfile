FROM node:24-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS packages
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
COPY service/package.json service/
COPY web/package.json web/
COPY web/stubs web/stubs
# The optional packages contain the pinned Node.js, which this image already has.
RUN npm ci --omit=dev --omit=optional --workspace=service --workspace=web --include-workspace-root

FROM node:24-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
COPY web/console/package.json web/console/
COPY web/stubs web/stubs
COPY sdk/package.json sdk/README.md sdk/
COPY pet-files/package.json pet-files/
COPY cli/package.json cli/README.md cli/
# With optional packages: they have the bundler's program for this platform.
RUN npm ci --omit=dev --workspace=web/console
COPY sdk/src sdk/src
COPY pet-files/src pet-files/src
COPY cli/bin cli/bin
COPY cli/src cli/src
COPY LICENSE CHANGELOG.md ./
COPY scripts/*.mjs scripts/
COPY sdk/testing sdk/testing
COPY service/src service/src
COPY web/console/build.mjs web/console/index.html web/console/vite.config.ts web/console/
COPY web/identity web/identity
COPY web/console/src web/console/src
RUN node scripts/build.mjs

FROM node:24-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
WORKDIR /app
RUN install -d -m 0700 -o node -g node /data
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY service/package.json service/
COPY service/src service/src
COPY service/migrations service/migrations
COPY openapi.yaml ./
COPY CHANGELOG.md ./
COPY docs/api-guide.md docs/operations.md docs/scaling.md docs/seals.md docs/
COPY sdk/README.md sdk/
COPY cli/README.md cli/
COPY web/package.json web/
COPY web/identity web/identity
COPY web/portal web/portal
COPY --from=build /app/web/console/dist web/console/dist
COPY --from=build /app/packages packages
# By default the compile cache is in /app, to which the service cannot write.
ENV HOST=0.0.0.0 PORT=8080 PETSTORE_DATA=/data NODE_COMPILE_CACHE=/tmp/petstore-compile-cache
# Limits memory under load: docs/operations.md, Sizing.
ENV NODE_OPTIONS=--max-semi-space-size=8 MALLOC_ARENA_MAX=1
USER node
VOLUME /data
# Port 9090 is for OPS_PORT, if it is set.
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=300s --retries=3 \
  CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: process.env.PORT, path: '/healthz' }, response => process.exit(response.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# The exec form passes SIGTERM to the process. Other commands also work: docker run … keys list
ENTRYPOINT ["node", "service/src/main.ts"]
CMD ["serve"]
