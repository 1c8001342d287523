import * as kinds from '../kinds.ts'
import { setting } from '../setting.ts'

/** The log on stdout, in `GET /logs` and over OTLP, and the metrics. */
export const loggingSettings = {
  logLevel: setting({
    env: 'LOG_LEVEL',
    path: 'service.log.level',
    kind: kinds.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal'),
    fallback: 'info',
    about: 'Minimum level of log records, on stdout and in GET /logs.',
  }),
  logFormat: setting({
    env: 'LOG_FORMAT',
    path: 'service.log.format',
    kind: kinds.oneOf('auto', 'json', 'text'),
    fallback: 'auto',
    about:
      'Form of the log on stdout: one JSON object or one line of text per record; auto is text on a terminal, else JSON.',
  }),
  otelLogsEnabled: setting({
    env: 'OTEL_LOGS_ENABLED',
    path: 'otel.logs.enabled',
    kind: kinds.boolean,
    fallback: false,
    about: 'Export the log to an OpenTelemetry collector over OTLP (http/protobuf).',
  }),
  otelEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    path: 'otel.endpoint',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'URL of the OpenTelemetry collector; /v1/logs is appended. Default: http://localhost:4318.',
  }),
  otelLogsEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
    path: 'otel.logs.endpoint',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'URL of the collector for logs, used unchanged in place of OTEL_EXPORTER_OTLP_ENDPOINT.',
  }),
  otelLogsHeaders: setting({
    env: 'OTEL_LOGS_HEADERS',
    path: 'otel.logs.headers',
    kind: kinds.pairs,
    fallback: undefined,
    secret: true,
    about: 'Headers for the collector, such as its credentials, as key=value pairs.',
  }),
  otelServiceName: setting({
    env: 'OTEL_SERVICE_NAME',
    path: 'otel.serviceName',
    kind: kinds.text,
    fallback: 'posthorn',
    about: 'Name of this service in the exported log.',
  }),
  otelLoggerName: setting({
    env: 'OTEL_LOGGER_NAME',
    path: 'otel.logs.loggerName',
    kind: kinds.text,
    fallback: 'posthorn',
    about: 'Name of the logger in the exported log.',
  }),
  otelLogsResourceAttributes: setting({
    env: 'OTEL_LOGS_RESOURCE_ATTRIBUTES',
    path: 'otel.logs.resourceAttributes',
    kind: kinds.pairs,
    fallback: undefined,
    about: 'Attributes of the exported log, as key=value pairs.',
  }),
  otelLogsMaxQueueSize: setting({
    env: 'OTEL_LOGS_MAX_QUEUE_SIZE',
    path: 'otel.logs.maxQueueSize',
    kind: kinds.integer(1, 1_000_000),
    fallback: 2048,
    about: 'Maximum number of records waiting for export; further records are dropped.',
  }),
  otelLogsMaxExportBatchSize: setting({
    env: 'OTEL_LOGS_MAX_EXPORT_BATCH_SIZE',
    path: 'otel.logs.maxExportBatchSize',
    kind: kinds.integer(1, 1_000_000),
    fallback: 512,
    about: 'Maximum number of records per export; at most the queue size.',
  }),
  otelLogsScheduledDelayMs: setting({
    env: 'OTEL_LOGS_SCHEDULED_DELAY_MS',
    path: 'otel.logs.scheduledDelayMs',
    kind: kinds.integer(1, 3_600_000),
    fallback: 1000,
    about: 'Milliseconds for which records wait so that they share an export.',
  }),
  metricsPublic: setting({
    env: 'METRICS_PUBLIC',
    path: 'metrics.public',
    kind: kinds.boolean,
    fallback: false,
    about: 'Serve GET /metrics without an API key. Only where the network protects it.',
  }),
} as const
