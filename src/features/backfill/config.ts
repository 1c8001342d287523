import { type Static, Type } from 'typebox'
import { findState, type Handle, setState, type Tx } from '../../infra/db/index.ts'

const members = {
  enabled: Type.Boolean({ description: 'False: backfills wait, also those that start.' }),
  timeRangeDays: Type.Integer({
    minimum: 1,
    maximum: 365,
    description: 'How far back a backfill reads, counted from its start. Applies to backfills that start later.',
  }),
  batchSize: Type.Integer({ minimum: 1, maximum: 1000, description: 'Messages of a batch.' }),
  delayBetweenBatches: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    description: 'Milliseconds between two batches of an account.',
  }),
  maxConcurrentAccounts: Type.Integer({
    minimum: 1,
    maximum: 10,
    description:
      'Accounts that are read at once, on all instances together. The others wait in the order of their start.',
  }),
}

export const configSchema = Type.Object(members, { title: 'BackfillConfig' })
export type BackfillConfig = Static<typeof configSchema>

export const configBody = Type.Partial(Type.Object(members), { title: 'BackfillConfigUpdate' })

const DEFAULTS: BackfillConfig = {
  enabled: true,
  timeRangeDays: 90,
  batchSize: 200,
  delayBetweenBatches: 500,
  maxConcurrentAccounts: 3,
}

const NAME = 'backfill.config'

/** The settings of all replicas. */
export async function readConfig(handle: Handle): Promise<BackfillConfig> {
  const stored = await findState(handle, NAME)
  return stored === undefined ? DEFAULTS : { ...DEFAULTS, ...JSON.parse(stored) }
}

/** Changes the given settings and returns all of them. */
export async function changeConfig(tx: Tx, changes: Partial<BackfillConfig>): Promise<BackfillConfig> {
  const config = { ...(await readConfig(tx)), ...changes }
  await setState(tx, NAME, JSON.stringify(config))
  return config
}
