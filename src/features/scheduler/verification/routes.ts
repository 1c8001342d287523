import { Type } from 'typebox'
import type { App } from '../../../infra/http/index.ts'
import { invalid } from '../../../lib/errors.ts'
import { timestamp } from '../../../lib/json-schema.ts'
import { experienceParams } from '../experiences/api.ts'
import { originsOf } from '../experiences/routes.ts'
import type { Experiences } from '../experiences/service.ts'
import type { Verification } from './service.ts'

const verificationBody = Type.Object(
  {
    email: Type.String({ minLength: 3, maxLength: 320, examples: ['grace@example.com'] }),
    website: Type.Optional(Type.String({ maxLength: 2000, description: 'Must be empty: only programs fill it in.' })),
  },
  { title: 'VerificationRequest' },
)

const verificationSchema = Type.Object(
  { success: Type.Boolean(), message: Type.String(), expiresAt: timestamp('Until then the code is valid.') },
  { title: 'VerificationSent' },
)

export function verificationRoutes(app: App, deps: { experiences: Experiences; verification: Verification }): void {
  const { experiences, verification } = deps

  app.post(
    '/scheduler/experiences/:slug/verification',
    {
      config: {
        access: 'open:write',
        cors: originsOf(experiences),
        rateLimit: {
          name: 'verification',
          address: { limit: 10, windowMs: 600_000 },
          // Strangers could fill a mailbox with codes.
          subject: {
            ...{ limit: 5, windowMs: 3_600_000 },
            of: ({ params, body }) => {
              const [slug, email] = [Object(params).slug, Object(body).email].map(String)
              return `${slug} ${email?.trim().toLowerCase()}`
            },
          },
        },
      },
      schema: {
        tags: ['Scheduler'],
        operationId: 'sendVerificationCode',
        errors: [409],
        summary: 'Send a code to a guest',
        description:
          'For experiences whose `bookingForm` has `verifyEmail`. Sends a code of six digits from the account of a host; the booking needs it as `verificationCode`. It is valid for 10 minutes and 5 attempts. Needs no key.',
        params: experienceParams,
        body: verificationBody,
        response: { 200: verificationSchema },
      },
    },
    async ({ params: { slug }, body }) => {
      const experience = await experiences.getActive(slug)
      if (body.website) throw invalid('body.website', 'must be empty')
      const { expiresAt } = await verification.send(experience, body.email)
      return { success: true, message: 'A code was sent to this address.', expiresAt }
    },
  )
}
