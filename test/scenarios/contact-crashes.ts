import { once } from 'node:events'
import { expect } from 'vitest'
import { sleep } from '../../src/platform/concurrency/abort.ts'
import type { Db } from '../../src/platform/db/index.ts'
import type { Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { random } from '../kit/random/random.ts'
import { compose } from '../kit/service/composition.ts'
import { startWorker } from '../kit/workers/start.ts'
import { startBooks } from './contact-servers.ts'
import { countedPeople, storedLetters, storeLetters } from './people-letters.ts'

export interface ContactCrashes {
  kills: number
  /** Contacts that each address book has at the beginning. */
  contacts: number
  /** Stored messages for each kill. */
  letters: number
}

/** A request to create a contact, to change it, and to delete another one. */
export interface ContactChange {
  accountId: string
  /** Its `Idempotency-Key`. */
  key: string
  displayName: string
  deletedId: string
}

/** For each kill and address book: three changes by other programs, and as many through the API. */
export const CHANGES_PER_KILL = 18
const FIRST_SYNC_MS = 400
const CHANGES_MS = 300

/**
 * Syncs an address book of each provider while the process is killed (SIGKILL) at random moments of the first sync, of changes, and of
 * requests that change contacts, and started again; cursors expire now and then. Requires that every change is announced exactly
 * once, that nothing of the first sync is, that what is stored equals the address books, and that each message counts once. Returns how
 * many changes there were.
 */
export async function runContactCrashes(db: Db, place: Place, options: ContactCrashes): Promise<number> {
  const { kills, letters } = options
  const chance = random()
  const { books, settings, close: closeServers } = await startBooks()
  const { features, close } = compose(db, { settings })
  let running: ReturnType<typeof startWorker> | undefined
  const accountIds = new Map<string, string>()
  const old = new Map<string, string[]>()
  const current = new Set<string>()
  const expected: string[] = []
  /** May be announced, once. */
  const early: string[] = []
  const waiting = new Map<string, ContactChange>()

  const start = async () => {
    const args = [
      place.dataDir,
      place.databaseUrl ?? '',
      JSON.stringify(settings),
      JSON.stringify([...waiting.values()]),
    ]
    const child = startWorker('contact-sync-worker', args)
    running = child
    child.stdout.on('data', (data) => {
      for (const [, key = ''] of String(data).matchAll(/done (\S+)/g)) waiting.delete(key)
    })
    await once(child.stdout, 'data')
    return child
  }
  const end = async (child: Awaited<ReturnType<typeof start>>) => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const nextOld = (name: string) => {
    const id = old.get(name)?.shift()
    if (id === undefined) throw new Error(`${name} has too few contacts.`)
    const [row] = [...current].filter((text) => text.endsWith(`#${id}`))
    if (row !== undefined) current.delete(row)
    return { id, text: row?.slice(0, row.lastIndexOf('#')) ?? '' }
  }
  const add = async (name: string, text: string) => {
    const id = await books[name]?.put(text)
    if (id === undefined) throw new Error('There is no such address book.')
    current.add(`${text}#${id}`)
    return id
  }

  /** Changes of other programs, each of a contact that does not change again. */
  const change = async (name: string, round: number) => {
    await add(name, `${name}-new-${round}`)
    expected.push(`created ${name}-new-${round}`)
    await sleep(chance() * 20)
    const changed = nextOld(name)
    await books[name]?.put(`${name}-changed-${round}`, changed.id)
    current.add(`${name}-changed-${round}#`)
    expected.push(`updated ${name}-changed-${round}`)
    const removed = nextOld(name)
    await books[name]?.remove(removed.id)
    expected.push(`deleted ${removed.text}`)
    if (chance() < 0.3) await books[name]?.expireCursors()
  }
  /** Deleted while the first sync reads: nobody has seen it, so nothing is announced. Unless that address book is complete by then. */
  const removeEarly = async (name: string) => {
    const { id, text } = nextOld(name)
    await books[name]?.remove(id)
    if ((await syncedBooks(db, accountIds.get(name))) > 0) early.push(`deleted ${text}`)
  }
  /** For the next process. */
  const request = async (name: string, round: number) => {
    const removed = nextOld(name)
    const rows = await db.read.selectFrom('contacts').select('id').where('providerId', '=', removed.id).execute()
    const displayName = `${name}-api-${round}`
    const accountId = accountIds.get(name) ?? ''
    waiting.set(displayName, { accountId, key: displayName, displayName, deletedId: rows[0]?.id ?? '' })
    current.add(`${displayName} changed#`)
    expected.push(`created ${displayName}`, `updated ${displayName} changed`, `deleted ${removed.text}`)
  }

  try {
    for (const [name, book] of Object.entries(books)) {
      const ids: string[] = []
      for (let n = 0; n < options.contacts; n += 1) ids.push(await add(name, `${name}-old-${n}`))
      old.set(name, ids)
      accountIds.set(name, (await book.link(db, features)).id)
    }
    const names = Object.keys(books)
    const [writer = ''] = accountIds.values()
    for (let round = 0, attempts = 1; round < kills; attempts += 1) {
      const isSynced = (await syncedBooks(db)) === names.length
      if (isSynced) for (const name of names) await request(name, round)
      await storeLetters(db, writer, letters)
      const child = await start()
      if (isSynced) {
        await Promise.all(names.map((name) => change(name, round)))
        round += 1
      } else {
        for (const name of names) if (attempts <= kills) await removeEarly(name)
      }
      // A listing that began anew each time would never end.
      await sleep(chance() * (isSynced ? CHANGES_MS : FIRST_SYNC_MS * attempts))
      await end(child)
    }
    const child = await start()
    await eventually(async () => expect(withoutOnce(await announced(db), early)).toEqual(expected.toSorted()))
    await eventually(async () => expect(await stored(db)).toEqual([...current].map(textOf).sort()))
    await eventually(async () => expect(await countedPeople(db)).toEqual(await storedLetters(db)))
    await eventually(() => expect(waiting.size).toBe(0))
    await end(child)
    expect(withoutOnce(await announced(db), early)).toEqual(expected.toSorted())
    expect(await countedBooks(db)).toEqual(await countedContacts(db))
    return expected.length
  } finally {
    running?.kill('SIGKILL')
    await close()
    await closeServers()
  }
}

const textOf = (entry: string) => entry.slice(0, entry.lastIndexOf('#'))
const shown = (text: string): string => {
  const { displayName, jobTitle } = JSON.parse(text)
  return jobTitle ? `${displayName} ${jobTitle}` : displayName
}

/** How many address books are complete, of all accounts or of one. */
async function syncedBooks(db: Db, accountId?: string): Promise<number> {
  const rows = await db.read.selectFrom('contactBooks').select(['accountId', 'syncedAt']).execute()
  const own = rows.filter((row) => accountId === undefined || row.accountId === accountId)
  return own.filter(({ syncedAt }) => syncedAt !== null).length
}

/** Leaves out the first of each of these. */
function withoutOnce(lines: readonly string[], optional: readonly string[]): string[] {
  const left = new Set(optional)
  return lines.filter((line) => !left.delete(line))
}

async function announced(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('events').select(['type', 'data']).where('type', 'like', 'contact.%').execute()
  return rows.map(({ type, data }) => `${type.split('.')[1]} ${shown(data)}`).sort()
}

async function stored(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('contacts').select('content').execute()
  return rows.map(({ content }) => shown(content)).sort()
}

async function countedBooks(db: Db): Promise<[string, number][]> {
  const rows = await db.read.selectFrom('contactBooks').select(['id', 'contacts']).orderBy('id').execute()
  return rows.map(({ id, contacts }) => [id, Number(contacts)])
}

async function countedContacts(db: Db): Promise<[string, number][]> {
  const rows = await db.read
    .selectFrom('contacts')
    .select((eb) => ['bookId', eb.fn.countAll<number | string>().as('count')])
    .groupBy('bookId')
    .orderBy('bookId')
    .execute()
  return rows.map(({ bookId, count }) => [bookId, Number(count)])
}
