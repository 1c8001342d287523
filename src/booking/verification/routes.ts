import * as Type from 'typebox'
import { invalid } from '../../platform/errors/app-error.ts'
import { timestamp } from '../../platform/formats/json-schema.ts'
import { type App, clientBlock } from '../../platform/http/index.ts'
import { experienceParams } from '../experiences/api.ts'
import { originReader } from '../experiences/routes.ts'
import type { Experiences } from '../experiences/service.ts'
import { type MailLimitDeps, reportingLimits } from '../guests/limit-report.ts'
import type { Verification } from './service.ts'

const verificationBody = Type.Object(
  {
    email: Type.String({ minLength: 3, maxLength: 320, examples: ['grace@example.com'] }),
    website: Type.Optional(Type.String({ maxLength: 2000, description: 'Must be empty: only programs fill it in.' })),
  },
  { title: 'VerificationRequest' },
)

const verificationSchema = Type.Object(
  {
    success: Type.Boolean(),
    message: Type.String(),
    verificationId: Type.String({ description: 'Send it with the booking, beside the code.' }),
    expiresAt: timestamp('Until then the code is valid.'),
  },
  { title: 'VerificationSent' },
)

interface VerificationRouteDeps {
  experiences: Experiences
  verification: Verification
  limits: MailLimitDeps
}

export function verificationRoutes(app: App, deps: VerificationRouteDeps): void {
  const { experiences, verification, limits } = deps

  app.post(
    '/scheduler/experiences/:slug/verification',
    {
      config: {
        access: 'open:write',
        cors: originReader(experiences),
        rateLimit: {
          name: 'verification',
          // How many codes one mailbox gets is limited by the budget of messages.
          address: { limit: 10, windowMs: 600_000 },
        },
      },
      schema: {
        tags: ['Scheduler'],
        operationId: 'sendVerificationCode',
        errors: [409],
        summary: 'Send a code to a guest',
        description:
          'For experiences whose `bookingForm` has `verifyEmail`. Sends a code of six digits from the account of a host; the booking needs it as `verificationCode`, and the `verificationId` of the response beside it. It is valid for one booking, 10 minutes and 5 attempts. Without the `verificationId`, only the address of the client that requested the code may use it, and only its latest one. 429 mail_limited when too many messages went to addresses that are not verified. Needs no key.',
        params: experienceParams,
        body: verificationBody,
        response: { 200: verificationSchema },
      },
    },
    async ({ params: { slug }, body, ip }) => {
      const experience = await experiences.getActive(slug)
      if (body.website) throw invalid('body.website', 'must be empty')
      const send = () => verification.send(experience, body.email, clientBlock(ip))
      const sent = await reportingLimits(limits, experience, send)
      return { success: true, message: 'A code was sent to this address.', ...sent }
    },
  )
}
