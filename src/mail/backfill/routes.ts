import type { Db } from '../../platform/db/index.ts'
import type { App, Idempotency } from '../../platform/http/index.ts'
import { backfillList, backfillParams, backfillQuery, backfillSchema } from './api.ts'
import { changeConfig, configBody, configSchema, readConfig } from './config.ts'
import { BACKFILL_ACTIONS, type BackfillAction, type BackfillService } from './service.ts'

interface BackfillRouteDeps {
  db: Db
  service: BackfillService
  idempotency: Idempotency
}

const PATH = '/historical-sync'

const ACTIONS: Record<BackfillAction, { operationId: string; summary: string; description: string }> = {
  start: {
    operationId: 'startHistoricalSync',
    summary: 'Start the historical sync of an account',
    description:
      'Reads the mail of the last timeRangeDays that is not stored yet, newest first, without message events. Changes nothing while it runs or when it is complete; continues a paused one; begins anew after failed or cancelled.',
  },
  pause: {
    operationId: 'pauseHistoricalSync',
    summary: 'Pause the historical sync of an account',
    description: 'Returns 409 when it is not running.',
  },
  resume: {
    operationId: 'resumeHistoricalSync',
    summary: 'Resume the historical sync of an account',
    description: 'Continues a paused or failed one where it stopped. Returns 409 when there is nothing to continue.',
  },
  restart: {
    operationId: 'restartHistoricalSync',
    summary: 'Restart the historical sync of an account',
    description:
      'Begins anew with the current settings, whatever its state. Stored messages are kept and not read again.',
  },
  cancel: {
    operationId: 'cancelHistoricalSync',
    summary: 'Cancel the historical sync of an account',
    description: 'Messages read so far are kept. Returns 409 when it has not started or is complete.',
  },
}

const AUDITED: Record<BackfillAction, string> = {
  start: 'backfill.started',
  pause: 'backfill.paused',
  resume: 'backfill.resumed',
  restart: 'backfill.restarted',
  cancel: 'backfill.cancelled',
}

export function backfillRoutes(app: App, { db, service, idempotency }: BackfillRouteDeps): void {
  const tags = ['Operation']

  app.get(
    PATH,
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listHistoricalSyncs',
        summary: 'List historical syncs',
        querystring: backfillQuery,
        response: { 200: backfillList },
      },
    },
    async ({ query }) => {
      const { items, pagination } = await service.list(query)
      return { backfills: items, pagination }
    },
  )

  app.get(
    `${PATH}/config`,
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getHistoricalSyncConfig',
        summary: 'Get the settings of historical syncs',
        response: { 200: configSchema },
      },
    },
    () => readConfig(db.read),
  )

  app.put(
    `${PATH}/config`,
    {
      config: { access: 'key:write', audit: 'backfill.configured' },
      schema: {
        tags,
        operationId: 'updateHistoricalSyncConfig',
        summary: 'Change the settings of historical syncs',
        description: 'Omitted members stay unchanged. Applies to all replicas, from the next batch on.',
        body: configBody,
        response: { 200: configSchema },
      },
    },
    (request) =>
      db.transaction(async (tx) => {
        await request.recordAudit(tx)
        return changeConfig(tx, request.body ?? {})
      }),
  )

  app.get(
    `${PATH}/:accountId`,
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getHistoricalSync',
        summary: 'Get the historical sync of an account',
        description: 'An account that never had one is idle.',
        params: backfillParams,
        response: { 200: backfillSchema },
      },
    },
    ({ params }) => service.find(db.read, params.accountId),
  )

  for (const action of BACKFILL_ACTIONS) {
    app.post(
      `${PATH}/${action}/:accountId`,
      {
        config: { access: 'key:write', audit: AUDITED[action] },
        schema: { tags, ...ACTIONS[action], params: backfillParams, response: { 200: backfillSchema } },
      },
      idempotency.writing(async ({ params }) => service.prepare(action, params.accountId)),
    )
  }
}
