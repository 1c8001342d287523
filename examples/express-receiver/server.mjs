// Receives webhooks with Express: verifies each one, ignores repetitions, responds at once, and works afterwards.
// POSTHORN_WEBHOOK_SECRET=whsec_… node server.mjs
import { WebhookVerificationError, webhooks } from '@posthorn/sdk'
import express from 'express'

const secret = process.env.POSTHORN_WEBHOOK_SECRET
const app = express()
/** Ids of events that arrived before. An application with several processes keeps them in its database. */
const seen = new Set()

// The signature is that of the bytes, so no parser may come first.
app.post('/webhooks', express.raw({ type: 'application/json' }), async (request, response) => {
  let event
  try {
    event = await webhooks.verify(request.body, request.headers, secret)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.status(401).send(error.message)
    return
  }
  response.sendStatus(204)
  if (seen.has(event.id)) return
  seen.add(event.id)
  await handle(event).catch((error) => console.error(`Cannot handle ${event.id}:`, error))
})

async function handle(event) {
  switch (event.type) {
    case 'message.received':
      console.log(`message from ${event.data.from?.email}: ${event.data.subject}`)
      break
    case 'account.auth_error':
      console.log(`ask ${event.data.email} to connect the mailbox again`)
      break
  }
}

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}/webhooks`)
})
