import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'undici'
import type { Db } from '../src/platform/db/index.ts'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { startApplication } from '../test/scenarios/application.ts'
import { client } from '../test/scenarios/client.ts'
import { connectMailboxes, PASSWORD, subscribe } from '../test/scenarios/mailboxes.ts'
import { startDovecot } from '../test/servers/dovecot.ts'
import { spread } from './figures.ts'
import { getJson } from './get-json.ts'
import { deliverLive } from './paced-mail.ts'
import type { Place } from './stores.ts'
import { judge, sayVerdict } from './verdict.ts'

const USER = 'live@mail.example'
const MAX_SLOWDOWN = 1.1

interface SearchedStore {
  db: Db
  place: Place
  /** The account whose messages are indexed last. */
  accountId: string
}

/** The time from the delivery of a message to its webhook, without and with a search index that is built from all messages meanwhile. */
export async function mailBesideIndexing(
  title: string,
  store: SearchedStore,
  say: (line: string) => void,
): Promise<void> {
  const [dovecot, application] = [await startDovecot(), await startApplication()]
  const { db, place, accountId } = store
  let service = await startServiceProcess(place)
  try {
    await dovecot.addUser(USER, PASSWORD)
    const api = client(service.url, service.key)
    const endpointId = await subscribe(api, application, ['message.received'])
    const live = (await connectMailboxes(api, dovecot, [USER])).get(USER) ?? ''
    const mailbox = { dovecot, application, user: USER }
    const alone = await deliverLive(mailbox, 'alone', () => false)
    await service.stop()

    await forgetIndex(db, place)
    service = await startServiceProcess(place)
    await connected(service, live)
    const beside = await deliverLive(mailbox, 'beside', () => false)
    if (!(await isPartial(service, accountId)))
      throw new Error('The index was complete before all messages had arrived.')
    say(`  live mail, index complete          ${spread(alone)}`)
    say(`  live mail, index being built       ${spread(beside)}`)
    const about = { bench: 'search', what: `${title}, mail beside indexing`, unit: 'ms' }
    sayVerdict(say, judge({ ...about, limit: { ratioAtMost: MAX_SLOWDOWN } }, { ours: beside, bare: alone }))
    // Another run on the same store connects them again.
    const last = client(service.url, service.key)
    await last.call('DELETE', `/webhooks/endpoints/${endpointId}`)
    await last.call('DELETE', `/accounts/${live}`)
  } finally {
    await service.stop()
    await application.close()
    await dovecot.stop()
  }
}

/** The next service builds the index from all messages. */
export async function forgetIndex(db: Db, { dataDir }: Place): Promise<void> {
  await db.transaction((tx) => tx.deleteFrom('serviceState').where('name', '=', 'search.index').execute())
  if (db.engine === 'sqlite') {
    for (const suffix of ['', '-wal', '-shm']) await rm(join(dataDir, `search.db${suffix}`), { force: true })
  }
}

async function connected(service: ServiceProcess, accountId: string): Promise<void> {
  const api = client(service.url, service.key)
  await eventually(async () => {
    const { status } = await api.call('GET', `/accounts/${accountId}`)
    const { completed } = await api.call<{ completed: number }>('GET', '/debounced-queue/status')
    return status === 'connected' && completed > 0
  }, 60_000)
}

async function isPartial({ url, key }: ServiceProcess, accountId: string): Promise<boolean> {
  const connection = new Client(url)
  try {
    const path = `/accounts/${accountId}/messages?q=regards&limit=1`
    const { body } = await getJson<{ pagination: { partial?: boolean } }>(connection, key, path)
    return body.pagination.partial === true
  } finally {
    await connection.close()
  }
}
