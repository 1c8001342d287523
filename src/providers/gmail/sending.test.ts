import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { sendingConformance } from '../conformance/sending.ts'
import { parseHeaders } from '../shared/mime/index.ts'

sendingConformance('Gmail', async () => {
  const { google, user, access, sending, mail, stop } = await gmailMailbox()
  const at = { on: /messages\/send/ }
  return {
    email: user,
    open: () => sending.open(access),
    submitted: () =>
      google.sent.map(({ raw }) => {
        const headers = parseHeaders(Buffer.from(raw.slice(0, raw.indexOf('\r\n\r\n')), 'latin1'))
        const to = headers.filter(({ name }) => ['to', 'cc', 'bcc'].includes(name.toLowerCase()))
        return { raw, recipients: to.flatMap(({ value }) => value.match(/[\w.]+@[\w.]+/g) ?? []) }
      }),
    refuse(how) {
      google.fail(how === 'permanent' ? { as: 'missing-scope', ...at } : { as: 'rate-limited', retryAfter: 60, ...at })
    },
    heal: () => mail.endPause(access.accountId),
    loseResponse: () => google.fail({ as: 'reset', ...at }),
    copies: async () => google.messages(user).filter(({ labels }) => labels.includes('SENT')).length,
    stop,
  }
})
