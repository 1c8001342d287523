import { once } from 'node:events'
import { expect } from 'vitest'
import type { Features } from '../../src/app/features.ts'
import type { Config } from '../../src/config/index.ts'
import type { Db } from '../../src/platform/db/index.ts'
import { imapLink } from '../kit/accounts/accounts.ts'
import type { Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { random } from '../kit/random/random.ts'
import { compose } from '../kit/service/composition.ts'
import { startWorker } from '../kit/workers/start.ts'
import { type DavProxy, type ProxiedCall, startDavProxy } from '../servers/dav-proxy.ts'
import { startRadicale } from '../servers/radicale.ts'
import { vcard } from '../servers/vcards.ts'

const USER = 'lin@posthorn.test'
const PASSWORD = 'correct horse'
const SETTINGS: Partial<Config> = { contactsEnabled: true }
/** A listing begins with two batches at once, of 200 contacts each. */
const BATCHES_AT_ONCE = 2
const FIRST_BATCHES = 400
/** Longer than a living process waits for a processor. */
const DEAD_AFTER_MS = 3000

/** What a request changes while the owner has read, and not yet stored, what another program changed. */
const RACES = ['changes the same', 'deletes the same', 'changes another', 'creates another'] as const

type Shown = Record<'displayName' | 'jobTitle' | 'notes', string>

interface Stage {
  db: Db
  features: Features
  proxy: DavProxy
  accountId: string
  /** The contacts of the server by id. */
  served: Map<string, Shown>
  /** Changes a contact as another program. */
  write(id: string, changes: Partial<Shown>): Promise<void>
}

/**
 * An address book on Radicale, and instances on one PostgreSQL. The owner is suspended in the middle of the first sync, goes on after another
 * one took over, and takes over itself when that one is killed in the middle. Then an instance that does not own the account changes
 * contacts while the owner holds an older version. Requires that every contact is stored once, that no change is undone, and that
 * each is announced exactly once. Returns how many changes there were.
 */
export async function runContactOwners(
  db: Db,
  place: Place,
  { contacts, races }: { contacts: number; races: number },
): Promise<number> {
  const chance = random()
  const radicale = await startRadicale()
  const proxy = await startDavProxy(radicale.url)
  const { features, close } = compose(db, { settings: SETTINGS })
  const children: ReturnType<typeof startWorker>[] = []
  const start = async () => {
    const args = [place.dataDir, place.databaseUrl ?? '', JSON.stringify(SETTINGS), '[]', String(DEAD_AFTER_MS)]
    const child = startWorker('contact-sync-worker', args)
    children.push(child)
    await once(child.stdout, 'data')
    return child
  }
  try {
    await radicale.addUser(USER, PASSWORD)
    const book = await radicale.makeBook(USER, 'people')
    const served = new Map<string, Shown>()
    const cardOf = (id: string) => vcard(id.slice(book.length, -4), served.get(id) ?? {})
    for (let n = 0; n < contacts; n += 1) served.set(`${book}${n}.vcf`, toShown({ displayName: `contact ${n}` }))
    await radicale.storeObjects(
      book,
      [...served.keys()].map((id) => [id.slice(book.length), cardOf(id)] as const),
    )
    const { id: accountId } = await db.transaction((tx) => {
      const person = imapLink({ email: USER, providerUser: USER, secrets: { password: PASSWORD } })
      const caldav = { url: proxy.url, username: USER }
      return features.accounts.link(tx, { ...person, settings: { ...person.settings, caldav } })
    })
    const stage: Stage = {
      db,
      features,
      proxy,
      accountId,
      served,
      async write(id, changes) {
        served.set(id, toShown({ ...served.get(id), ...changes }))
        await radicale.request(USER, 'PUT', id, cardOf(id))
      },
    }

    await handOver(stage, start)
    await eventually(async () => expect((await readBook(db))?.syncedAt).not.toBeNull())
    await expectAsServed(stage)
    expect(await announced(db)).toEqual([])

    const expected: string[] = []
    for (let race = 0; race < races; race += 1) {
      const kind = RACES[race] ?? RACES[Math.floor(chance() * RACES.length)]
      expected.push(...(await runRace(stage, kind ?? RACES[0], race, chance)))
      await eventually(() => expectAsServed(stage))
    }
    // Once this is announced, the owner has stored everything before it.
    const [last = ''] = served.keys()
    await stage.write(last, { notes: 'the last change' })
    expected.push(`updated ${textOf(served.get(last))}`)
    await eventually(async () => expect(await announced(db)).toContain(expected.at(-1)))
    expect(await announced(db)).toEqual(expected.toSorted())
    await expectAsServed(stage)
    return expected.length
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await close()
    await proxy.close()
    await radicale.stop()
  }
}

/** Two owners begin the first sync. The first one is suspended, then the second one killed, each before it has the last batch. */
async function handOver({ db, proxy }: Stage, start: () => Promise<ReturnType<typeof startWorker>>): Promise<void> {
  let holding: 'first' | 'second' | undefined = 'first'
  let passed = 0
  const holdLater = (owner: typeof holding) =>
    proxy.hold((call) => {
      if (holding !== owner || !isMultiget(call)) return false
      passed += 1
      return passed > BATCHES_AT_ONCE
    })
  const [ofFirst, ofSecond] = [holdLater('first'), holdLater('second')]

  const first = await start()
  await eventually(async () => expect(await countContacts(db, 0)).toBe(FIRST_BATCHES))
  await eventually(() => expect(ofFirst.count).toBeGreaterThan(0))
  const instance = await readOwner(db)
  first.kill('SIGSTOP')
  holding = 'second'
  passed = 0
  const second = await start()
  await eventually(async () => expect(await countContacts(db, 1)).toBe(FIRST_BATCHES))
  await eventually(() => expect(ofSecond.count).toBeGreaterThan(0))
  expect(await readOwner(db)).not.toBe(instance)

  const before = await countContacts(db)
  first.kill('SIGCONT')
  ofFirst.release()
  await eventually(async () => expect(await readInstances(db)).toContain(instance))
  // What the suspended owner has received since may not be stored.
  expect(await countContacts(db)).toBe(before)

  second.kill('SIGKILL')
  holding = undefined
  ofSecond.release()
  await eventually(async () => expect(await readOwner(db)).toBe(instance))
}

/** Returns the events that must follow. */
async function runRace(
  { db, features, proxy, accountId, served, write }: Stage,
  kind: (typeof RACES)[number],
  race: number,
  chance: () => number,
): Promise<string[]> {
  const { contactChanges } = features
  const ids = [...served.keys()]
  const pick = () => ids.splice(Math.floor(chance() * ids.length), 1)[0] ?? ''
  const target = pick()
  const changed = kind.endsWith('the same') ? target : pick()
  const before = textOf(served.get(target))
  const held = proxy.hold((call) => held.count === 0 && isMultiget(call))
  await write(changed, { notes: `race ${race}` })
  await eventually(() => expect(held.count).toBe(1))
  const announcedOf = (id: string) => `updated ${textOf(served.get(id))}`
  try {
    if (kind === 'creates another') {
      const displayName = `created ${race}`
      const save = await contactChanges.create(accountId, { displayName }, displayName)
      const { providerContactId } = await db.transaction(save)
      served.set(providerContactId ?? '', toShown({ displayName }))
      return [`created ${textOf({ displayName })}`, announcedOf(changed)]
    }
    const contactId = await findId(db, target)
    if (kind === 'deletes the same') {
      await contactChanges.remove(accountId, contactId)
      served.delete(target)
      return [`deleted ${before}`]
    }
    const jobTitle = `title ${race}`
    await contactChanges.update(accountId, contactId, { jobTitle }, undefined)
    served.set(target, toShown({ ...served.get(target), jobTitle }))
    return kind === 'changes the same' ? [announcedOf(target)] : [announcedOf(target), announcedOf(changed)]
  } finally {
    held.release()
  }
}

const isMultiget = ({ body }: ProxiedCall) => body.includes('addressbook-multiget')

function toShown(shown: Partial<Shown>): Shown {
  return { displayName: '', jobTitle: '', notes: '', ...shown }
}

function textOf(shown: Partial<Record<keyof Shown, string | null>> = {}): string {
  return `${shown.displayName || '-'}, ${shown.jobTitle || '-'}, ${shown.notes || '-'}`
}

async function expectAsServed({ db, served }: Stage): Promise<void> {
  const rows = await db.read.selectFrom('contacts').select('content').execute()
  const texts = [...served.values()].map(textOf)
  expect(rows.map(({ content }) => textOf(JSON.parse(content))).sort()).toEqual(texts.sort())
  expect(Number((await readBook(db))?.contacts)).toBe(served.size)
}

async function announced(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('events').select(['type', 'data']).where('type', 'like', 'contact.%').execute()
  return rows.map(({ type, data }) => `${type.split('.')[1]} ${textOf(JSON.parse(data))}`).sort()
}

function readBook(db: Db) {
  return db.read.selectFrom('contactBooks').select(['syncedAt', 'contacts']).executeTakeFirst()
}

/** All, or those that this round of a listing has found. */
async function countContacts(db: Db, round?: number): Promise<number> {
  const rows = await db.read.selectFrom('contacts').select('round').execute()
  return rows.filter((row) => round === undefined || Number(row.round) === round).length
}

async function findId(db: Db, providerId: string): Promise<string> {
  const found = db.read.selectFrom('contacts').select('id').where('providerId', '=', providerId)
  return (await found.executeTakeFirstOrThrow()).id
}

async function readOwner(db: Db): Promise<string | null | undefined> {
  return (await db.read.selectFrom('accounts').select('ownerInstance').executeTakeFirst())?.ownerInstance
}

async function readInstances(db: Db): Promise<string[]> {
  return (await db.read.selectFrom('instances').select('id').execute()).map(({ id }) => id)
}
