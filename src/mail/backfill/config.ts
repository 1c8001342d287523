import type { Static } from 'typebox'
import * as Type from 'typebox'
import { findState, type Handle, setState, type Tx } from '../../platform/db/index.ts'
import { documentedDefault } from '../../platform/formats/json-schema.ts'

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

export const configBody = Type.Partial(Type.Object(members), { title: 'BackfillConfigUpdate' })

export type BackfillConfig = Required<Static<typeof configBody>>

const DEFAULTS: BackfillConfig = {
  enabled: true,
  timeRangeDays: 90,
  batchSize: 200,
  delayBetweenBatches: 500,
  maxConcurrentAccounts: 3,
}

/** With the values until somebody changes them. */
export const configSchema = Type.Object(
  {
    enabled: { ...members.enabled, ...documentedDefault(DEFAULTS.enabled) },
    timeRangeDays: { ...members.timeRangeDays, ...documentedDefault(DEFAULTS.timeRangeDays) },
    batchSize: { ...members.batchSize, ...documentedDefault(DEFAULTS.batchSize) },
    delayBetweenBatches: { ...members.delayBetweenBatches, ...documentedDefault(DEFAULTS.delayBetweenBatches) },
    maxConcurrentAccounts: { ...members.maxConcurrentAccounts, ...documentedDefault(DEFAULTS.maxConcurrentAccounts) },
  },
  { title: 'BackfillConfig' },
)

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
