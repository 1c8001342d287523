# syntax=docker/dockerfile:1
# The image of Posthorn: `docker build --tag posthorn/posthorn .`, then see docs/production.md.

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund
RUN npm run build
# What the service needs at run time: libsql with its binary for glibc. Everything else is in dist.
RUN npm prune --omit=dev --no-audit --no-fund && rm -rf node_modules/@libsql/*-musl node_modules/@posthorn
RUN rm -rf dist/bench.js dist/demo-emulator.js && find dist -name '*.map' -delete
RUN mkdir -p /image/app /image/empty && cp -r dist node_modules package.json LICENSE CHANGELOG.md /image/app/

# Debian's libraries and Node.js, without a shell or a package manager. `nonroot` is the user 65532.
FROM gcr.io/distroless/nodejs24-debian12:nonroot
LABEL org.opencontainers.image.title="Posthorn" \
      org.opencontainers.image.description="Mailboxes, calendars, booking and webhooks behind one self-hosted REST API." \
      org.opencontainers.image.source="https://github.com/posthorn/posthorn" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    DATA_DIR=/data \
    PORT=8080
COPY --from=build /image/app /app
# Docker gives a new volume the owner of the folder that it covers.
COPY --from=build --chown=65532:65532 /image/empty /data
COPY --from=build --chown=65532:65532 /image/empty /backups
WORKDIR /app
USER 65532:65532
VOLUME ["/data"]
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/nodejs/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node.js is process 1 and receives SIGTERM itself; the service drains for at most 25 seconds.
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/posthorn.js"]
CMD ["start"]
