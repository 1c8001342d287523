// Sends a message with an attachment, and follows its events until it was sent or refused.
// POSTHORN_URL=… POSTHORN_API_KEY=… node send.mjs <account> <recipient> <file>
import { openAsBlob } from 'node:fs'
import { basename } from 'node:path'
import { Posthorn } from '@posthorn/sdk'

const [accountId, recipient, file] = process.argv.slice(2)
const posthorn = new Posthorn({ baseUrl: process.env.POSTHORN_URL, apiKey: process.env.POSTHORN_API_KEY })

// The stream begins here, so that no event can be missed between the two requests.
const [newest] = (await posthorn.events.list({ order: 'desc', limit: 1 })).items
const { outboxId, result } = await posthorn.messages.send(
  accountId,
  { to: [recipient], subject: `Your file ${basename(file)}`, body: 'Please find it attached.' },
  { files: { attachment: { content: await openAsBlob(file), filename: basename(file) } } },
)
console.log(`accepted as ${outboxId}`)

const stream = posthorn.events.stream(
  { type: 'message.sent,message.send_failed' },
  { lastEventId: String(newest?.position ?? 0), signal: AbortSignal.timeout(300_000) },
)
for await (const event of stream) {
  if (event.type === 'message.sent' && event.data.id === result.messageId) {
    console.log(`sent with ${event.data.attachments.map(({ filename }) => filename).join(', ')}`)
    break
  }
  if (event.type === 'message.send_failed' && event.data.outboxId === outboxId) {
    console.log(`refused: ${event.data.message}`)
    process.exitCode = 1
    break
  }
}
