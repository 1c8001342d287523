// Decides about free times and bookings in your own application: the service asks these two addresses.
// POSTHORN_URL=… POSTHORN_API_KEY=… CALLBACK_SECRET=… node server.mjs
import { createServer } from 'node:http'
import { ConflictError, Posthorn, WebhookVerificationError, webhooks } from '@posthorn/sdk'

const posthorn = new Posthorn({ baseUrl: process.env.POSTHORN_URL, apiKey: process.env.POSTHORN_API_KEY })
const SECRET = process.env.CALLBACK_SECRET
const SLUG = 'office-visit'
/** Hours (UTC) at which the office receives visitors, for 30 minutes each. */
const HOURS = [9, 10, 14]
const HALF_AN_HOUR_MS = 30 * 60_000
/** The decisions, by booking and time: the service may ask again. */
const decisions = new Map()

function availability({ range }) {
  const slots = []
  const day = new Date(range.start)
  for (day.setUTCHours(0, 0, 0, 0); day < new Date(range.end); day.setUTCDate(day.getUTCDate() + 1)) {
    for (const hour of HOURS) {
      const startMs = day.getTime() + hour * 2 * HALF_AN_HOUR_MS
      if (startMs < Date.parse(range.start) || startMs + HALF_AN_HOUR_MS > Date.parse(range.end)) continue
      const [start, end] = [startMs, startMs + HALF_AN_HOUR_MS].map((ms) => new Date(ms).toISOString())
      slots.push({ start, end, participants: ['Office'], metadata: { room: hour < 12 ? 'blue' : 'green' } })
    }
  }
  return { generatedAt: new Date().toISOString(), timezone: 'UTC', slots }
}

function booking({ bookingId, slot, guest }) {
  const key = `${bookingId} ${slot.start}`
  const refused = { status: 'rejected', message: 'Please book with an address of your company.' }
  const decision = guest.email.endsWith('@gmail.com') ? refused : { status: 'confirmed', metadata: { door: 'B' } }
  if (!decisions.has(key)) decisions.set(key, decision)
  return decisions.get(key)
}

const CALLBACKS = { '/availability': availability, '/booking': booking }

async function respond(request, response) {
  const callback = CALLBACKS[request.url]
  if (callback === undefined) return response.writeHead(404).end()
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { request: asked } = await webhooks.verifyRequest(Buffer.concat(chunks), request.headers, SECRET)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(callback(asked)))
}

const server = createServer((request, response) => {
  respond(request, response).catch((error) => {
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end(error.message)
  })
})
server.listen(process.env.PORT ?? 3000, '127.0.0.1', async () => {
  const address = `http://127.0.0.1:${server.address().port}`
  const experience = {
    name: 'Visit the office',
    timezone: 'UTC',
    availabilityEndpoint: { url: `${address}/availability`, secret: SECRET },
    bookingEndpoint: { url: `${address}/booking`, secret: SECRET },
  }
  await posthorn.experiences.create({ slug: SLUG, ...experience }).catch((error) => {
    if (!(error instanceof ConflictError)) throw error
    return posthorn.experiences.update(SLUG, experience)
  })
  console.log(`Book a visit at ${process.env.POSTHORN_URL}/book/${SLUG}`)
})
