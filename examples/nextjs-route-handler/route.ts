// Receives webhooks in a route handler of Next.js, as app/webhooks/route.ts. Any framework with the web's own
// Request and Response can use it.
import { WebhookVerificationError, webhooks } from '@posthorn/sdk'

export async function POST(request: Request): Promise<Response> {
  try {
    const secret = process.env.POSTHORN_WEBHOOK_SECRET ?? ''
    const event = await webhooks.verify(await request.arrayBuffer(), request.headers, secret)
    switch (event.type) {
      case 'message.received':
        console.log(`message from ${event.data.from?.email}: ${event.data.subject}`)
        break
      case 'booking.confirmed':
        console.log(`${event.data.guest.email} comes at ${event.data.slot.start}`)
        break
    }
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(error.message, { status: 401 })
    throw error
  }
}
