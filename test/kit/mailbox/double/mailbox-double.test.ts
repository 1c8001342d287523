import PostalMime from 'postal-mime'
import { idMailboxConformance } from '../../../../src/providers/conformance/id-mailbox.ts'
import type { IdMailboxFixture } from '../../../../src/providers/conformance/id-mailbox-fixture.ts'
import { ProviderError } from '../../../../src/providers/contract/index.ts'
import { type DoubleMessage, MailboxDouble } from './mailbox-double.ts'

idMailboxConformance('the double with one scope', async () => fixture('whole'))
idMailboxConformance('the double with a scope per folder', async () => fixture('folders'))

function fixture(kind: MailboxDouble['kind']): IdMailboxFixture {
  const box = new MailboxDouble(kind)
  box.waitsItself = true
  let arrivedMs = Date.now() - 3_600_000
  let created = 0
  let renewals = 0
  let isRevoked = false
  box.token = 'token 0'
  return {
    mail: box.mail,
    access: {
      accountId: 'acc_1',
      email: 'ada@example.test',
      settings: {},
      secrets: {},
      async accessToken(refused) {
        if (isRevoked) throw new ProviderError('auth_expired', 'the consent was withdrawn')
        if (refused !== undefined) renewals += 1
        return `token ${renewals}`
      },
    },
    inbox: 'INBOX',
    trash: 'TRASH',
    async deliver(raw) {
      arrivedMs += 1000
      const id = `message-${arrivedMs}`
      box.deliver(id, { ...(await parsed(raw)), receivedAt: arrivedMs })
      return id
    },
    setRead: async (id, read) => box.set(id, { unread: !read }),
    setStarred: async (id, starred) => box.set(id, { starred }),
    move: async (id, folderPath) => box.set(id, { folders: [folderPath] }),
    remove: async (id) => box.remove(id),
    async createFolder(name) {
      created += 1
      box.addFolder(`folder-${created}`, null, name)
      return `folder-${created}`
    },
    contents: async () =>
      Object.values(box.state.messages).map(({ id, unread, starred, folders }) => ({ id, unread, starred, folders })),
    expireCursors: async () => box.expireCursors(),
    fail(how, { times = 1, retryAfterS = 0 } = {}) {
      // A short pause is the provider's to wait for: nobody sees one that is over at once.
      if (how === 'rate_limited' && retryAfterS === 0) return
      const failure =
        how === 'rate_limited'
          ? new ProviderError('rate_limited', 'too many requests', { retryAfterMs: retryAfterS * 1000 })
          : new ProviderError('unavailable', how)
      box.failures.push(...Array.from({ length: times }, () => failure))
    },
    heal: () => void box.failures.splice(0),
    expireTokens() {
      box.token = `token ${renewals + 1}`
    },
    async revoke() {
      isRevoked = true
    },
    stop: async () => {},
  }
}

/** A raw message as the double stores it. */
async function parsed(raw: Buffer): Promise<Partial<DoubleMessage>> {
  const { from, to = [], subject = '', messageId = null, text = '', attachments, headers } = await PostalMime.parse(raw)
  const addresses = [from, ...to].flatMap((address) =>
    address?.address === undefined ? [] : [{ name: address.name, email: address.address }],
  )
  const files = attachments.map(({ content }) =>
    content instanceof ArrayBuffer ? Buffer.from(content) : Buffer.alloc(0),
  )
  return {
    subject,
    text,
    parsed: {
      messageId,
      from: addresses[0] ?? null,
      to: addresses.slice(1),
      isBulk: headers.some(({ key }) => key === 'list-unsubscribe'),
      attachments: attachments.map(({ filename, mimeType }, index) => ({
        id: String(index + 1),
        filename: filename ?? '',
        contentType: mimeType,
        inline: false,
        contentId: null,
        sizeBytes: files[index]?.length ?? 0,
      })),
    },
    files: Object.fromEntries(files.map((content, index) => [String(index + 1), content.toString('base64')])),
  }
}
