import * as Type from 'typebox'
import { serviceKey } from '../../../src/operations/api-keys/index.ts'
import { idempotency } from '../../../src/operations/idempotency/index.ts'
import type { Sealer } from '../../../src/platform/crypto/seal.ts'
import type { Db, Tx } from '../../../src/platform/db/index.ts'
import type { App } from '../../../src/platform/http/index.ts'
import type { Clock } from '../../../src/platform/time/clock.ts'
import { testServer } from './server.ts'

/** Points of a request at which a test may pause or fail it. */
export interface RequestHooks {
  prepare(): Promise<void>
  /** After the insert, before the commit. */
  commit(tx: Tx): Promise<void>
}

export const SERVER_KEY = 'secret'

/** A server with one idempotent route, `POST /things/:kind`, which inserts one row per effect. */
export function idempotencyServer(deps: { db: Db; clock: Clock; sealer: Sealer; hooks: RequestHooks }): App {
  const { hooks } = deps
  const idempotent = idempotency(deps)
  const app = testServer({ authenticator: serviceKey(SERVER_KEY), idempotency: idempotent })
  let effects = 0
  app.post(
    '/things/:kind',
    {
      config: { access: 'key:write' },
      schema: {
        params: Type.Object({ kind: Type.String() }),
        body: Type.Object({ name: Type.String(), size: Type.Optional(Type.Integer()) }),
        response: { 201: Type.Object({ name: Type.String(), number: Type.Integer() }) },
      },
    },
    idempotent.writing(async (request, reply) => {
      const { name } = request.body
      await hooks.prepare()
      reply.code(201)
      return async (tx) => {
        effects += 1
        await tx
          .insertInto('serviceState')
          .values({ name: `thing ${process.pid} ${effects}`, value: name })
          .execute()
        await hooks.commit(tx)
        return { name, number: effects, hidden: 'not in the schema' }
      }
    }),
  )
  return app
}

/** The number of effects of all processes. */
export async function countEffects(db: Db): Promise<number> {
  const rows = await db.read.selectFrom('serviceState').select('name').where('name', 'like', 'thing %').execute()
  return rows.length
}
