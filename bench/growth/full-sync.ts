import { openDatabase } from '../../test/kit/database/open-database.ts'
import { eventually } from '../../test/kit/eventually.ts'
import { startServiceProcess } from '../../test/kit/service/process.ts'
import { client } from '../../test/scenarios/client.ts'
import { startMailboxes } from '../mailboxes.ts'
import { spentBy } from '../spent.ts'
import type { Done, FilledStore, Work } from './work.ts'

const WARM_UP = 1_000
const MESSAGES = 5_000
const WAIT_MS = 600_000

/** The first sync of a new account, beside what is stored. */
export const fullSync: Work = {
  name: 'full-sync',
  item: 'message',
  async run({ place }: FilledStore, round: number): Promise<Done> {
    const mailboxes = await startMailboxes()
    const service = await startServiceProcess({ ...place, env: { SYNC_INITIAL_MESSAGES: String(MESSAGES) } })
    const db = openDatabase(place)
    const api = client(service.url, service.key)
    const accountIds: string[] = []
    const sync = async (user: string, count: number) => {
      const { id } = await api.call<{ id: string }>('POST', '/accounts', {
        provider: 'imap',
        email: `${user}@bench.example`,
        host: '127.0.0.1',
        port: mailboxes.port,
        secure: true,
        allowSelfSigned: true,
        username: user,
        password: 'secret',
      })
      accountIds.push(id)
      await eventually(
        async () => {
          const { pagination } = await api.call<{ pagination: { total: number } }>(
            'GET',
            `/accounts/${id}/messages?limit=1`,
          )
          return pagination.total === count
        },
        WAIT_MS,
        50,
      )
    }
    try {
      await sync(`first${round}-${WARM_UP}`, WARM_UP)
      const cpuMs = await spentBy(service.pid, db, () => sync(`growth${round}-${MESSAGES}`, MESSAGES))
      for (const accountId of accountIds) await api.call('DELETE', `/accounts/${accountId}`)
      await eventually(
        async () => (await db.read.selectFrom('accountErasures').select('accountId').execute()).length === 0,
        WAIT_MS,
        100,
      )
      return { items: MESSAGES, cpuMs }
    } finally {
      await db.close()
      await service.stop()
      mailboxes.stop()
    }
  },
}
