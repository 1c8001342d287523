import { describe, expect, it, onTestFinished } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase, describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { syncedMailbox } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { compose } from '../../../test/kit/service/composition.ts'
import { dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { startGoogle } from '../../../test/servers/google.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { startMicrosoft } from '../../../test/servers/microsoft.ts'
import { loadConfig } from '../../config/index.ts'
import { type Db, insertRows } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { accountAliases } from './aliases.ts'
import { isPerson } from './collect.ts'
import { peopleLearner } from './learner.ts'
import { erasePeople } from './store.ts'

const ids = idGenerator(systemClock)
const ADA = 'ada@posthorn.test'
/** Ids that were made in this process need not settle. */
const AT_ONCE = { everyMs: 5, settledMs: -60_000 }

interface Letter {
  from: string
  to: string[]
  name?: string
  atMs: number
}

/** Stores messages as sync does: with ids in the order of their arrival. */
async function store(db: Db, accountId: string, letters: readonly Letter[]): Promise<void> {
  const rows = letters.map(({ from, to, name = '', atMs }) => ({
    id: ids('msg'),
    accountId,
    providerMessageId: ids('req'),
    headerHash: '',
    subject: '',
    receivedAt: atMs,
    unread: 0,
    starred: 0,
    hasAttachments: 0,
    sizeBytes: 0,
    snippet: '',
    text: '',
    fields: JSON.stringify({
      from: { name, email: from },
      to: to.map((email) => ({ name: null, email })),
      cc: [],
      bcc: [],
    }),
    confirmations: 0,
    version: 1,
    createdAt: atMs,
    updatedAt: atMs,
  }))
  await db.transaction((tx) => insertRows(tx, 'messages', rows))
}

async function people(db: Db, accountId: string) {
  const rows = await db.read
    .selectFrom('correspondents')
    .select(['email', 'displayName', 'sent', 'received', 'lastAt'])
    .where('accountId', '=', accountId)
    .orderBy('email')
    .execute()
  return rows.map(({ email, displayName, sent, received, lastAt }) => [email, displayName, sent, received, lastAt])
}

describeEachDatabase('people in messages', (open) => {
  it('are counted once each, by any number of learners, and erased with their account', async () => {
    const db = await open()
    const { accounts, link } = testAccounts(db)
    const [ada, other] = [await link({ email: ADA }), await link({ email: 'other@posthorn.test', customUserId: 'o' })]
    const toMany = { to: Array.from({ length: 30 }, (_, at) => `p${at}@x.example`) }
    await store(db, ada.id, [
      { from: 'lin@northwind.example', name: 'Lin M', to: [ADA], atMs: 1000 },
      { from: 'Lin@Northwind.example', name: 'Lin Moreau', to: [ADA], atMs: 3000 },
      { from: 'lin@northwind.example', name: 'Old Lin', to: [ADA], atMs: 2000 },
      { from: ADA, to: ['lin@northwind.example', 'bob@acme.example', ADA], atMs: 4000 },
      { from: 'no-reply@shop.example', name: 'Shop', to: [ADA], atMs: 5000 },
      { ...toMany, from: ADA, atMs: 6000 },
    ])
    await store(db, other.id, [{ from: ADA, to: ['other@posthorn.test'], atMs: 1 }])
    const deps = { db, ids, clock: systemClock, log: silentLog, timing: AT_ONCE }
    const learners = [1, 2, 3].map(() =>
      peopleLearner({ ...deps, aliases: accountAliases({ ...deps, accounts, sending: () => ({}) }) }),
    )
    for (const learner of learners) learner.start()
    const expected = [
      ['bob@acme.example', '', 1, 0, 4000],
      ['lin@northwind.example', 'Lin Moreau', 1, 3, 4000],
    ]
    await eventually(async () => expect(await people(db, ada.id)).toEqual(expected))
    await store(db, ada.id, [{ from: 'zoe@acme.example', name: 'Zoe', to: [ADA], atMs: 7000 }])
    await eventually(async () =>
      expect(await people(db, ada.id)).toEqual([...expected, ['zoe@acme.example', 'Zoe', 0, 1, 7000]]),
    )
    for (const learner of learners) await learner.stop()
    expect(await people(db, other.id)).toEqual([[ADA, '', 0, 1, 1]])
    await db.transaction((tx) => erasePeople(tx, ada.id, 100))
    expect([(await people(db, ada.id)).length, (await people(db, other.id)).length]).toEqual([0, 1])
  })
})

describeOneDatabase('the aliases of an account', 'sqlite', (open) => {
  it.each(['gmail', 'microsoft'] as const)('are no people, as soon as %s names them', async (provider) => {
    const [google, microsoft] = [closing(await startGoogle()), closing(await startMicrosoft())]
    const server = provider === 'gmail' ? google : microsoft
    const environment = { ...google.settings, ...microsoft.settings }
    const { config } = loadConfig({ environment, folder: '/nowhere' })
    const db = await open()
    const { context, features, close } = compose(db, { settings: config })
    onTestFinished(() => close())
    server.addUser(ADA)
    const { accessToken, refreshToken } = await server.grant(ADA)
    const tokens = { accessToken, refreshToken, expiresAt: systemClock.now() + 3_600_000, scopes: [] }
    const link = { provider, email: ADA, customUserId: null, providerUser: ADA, settings: {}, secrets: {}, tokens }
    const { id } = await db.transaction((tx) => features.accounts.link(tx, link))
    const learn = () => {
      const aliases = accountAliases({ ...context, accounts: features.accounts, sending: features.mailboxes.sending })
      const learner = peopleLearner({ ...context, db, aliases, timing: AT_ONCE })
      learner.start()
      return learner
    }
    const letter = { from: 'bob@acme.example', to: ['sales@posthorn.test', ADA], atMs: 1000 }
    const toBoth = { from: ADA, to: ['bob@acme.example', 'Sales@posthorn.test'], atMs: 2000 }

    // The provider does not respond: the message is not held up.
    server.fail({ as: 'unavailable', on: /sendAs|\/me/, times: 100 })
    await store(db, id, [toBoth])
    const before = learn()
    const alias = ['sales@posthorn.test', '', 1, 0, 2000]
    await eventually(async () => expect(await people(db, id)).toEqual([['bob@acme.example', '', 1, 0, 2000], alias]))
    await before.stop()
    server.faults.clear()

    if (provider === 'gmail') google.aliases.set(ADA, [{ email: 'Sales@posthorn.test', status: 'accepted' }])
    else microsoft.aliases.set(ADA, ['Sales@posthorn.test'])
    await store(db, id, [letter, toBoth, { ...toBoth, from: 'sales@posthorn.test', to: ['eve@acme.example'] }])
    const after = learn()
    const expected = [
      ['bob@acme.example', '', 2, 1, 2000],
      ['eve@acme.example', '', 1, 0, 2000],
    ]
    await eventually(async () => expect(await people(db, id)).toEqual(expected))
    const asked = () => server.calls.all.filter(({ path }) => /sendAs|\/me\b/.test(path)).length
    const times = asked()
    await store(db, id, [letter])
    await eventually(async () => expect((await people(db, id))[0]).toEqual(['bob@acme.example', '', 2, 2, 2000]))
    expect(asked()).toBe(times)
    await after.stop()
  })
})

describe.skipIf(!dovecotAvailable())('messages that went to many', () => {
  describeOneDatabase('of a synced mailbox', 'sqlite', (open) => {
    it('do not make their authors people', async () => {
      const dovecot = await startDovecot()
      onTestFinished(() => dovecot.stop())
      const { db, accountId } = await syncedMailbox(dovecot, open, {
        before: async ({ user }) => {
          const headers = ['List-Id: Team <team.acme.example>', 'Precedence: list']
          await dovecot.deliver(user, plainMail({ from: 'Eve <eve@acme.example>', to: 'team@acme.example', headers }))
          await dovecot.deliver(user, plainMail({ from: 'Bob <bob@acme.example>', to: user }))
        },
      })
      const aliases = { find: async (ids: readonly string[]) => new Map(ids.map((id) => [id, []])) }
      const learner = peopleLearner({ db, ids, clock: systemClock, log: silentLog, timing: AT_ONCE, aliases })
      learner.start()
      await eventually(async () =>
        expect((await people(db, accountId)).map(([email]) => email)).toEqual(['bob@acme.example']),
      )
      await learner.stop()
    })
  })
})

it.each([
  ['ann@acme.example', true],
  ['reply@acme.example', true],
  ['norbert@acme.example', true],
  ['no-reply@acme.example', false],
  ['donotreply@acme.example', false],
  ['noreply+x=1@acme.example', false],
  ['bounces-123@acme.example', false],
  ['MAILER-DAEMON@acme.example', false],
  ['dev-request@lists.example', false],
  ['not an address', false],
])('knows who is a person: %s', (email, expected) => {
  expect(isPerson(email)).toBe(expected)
})
