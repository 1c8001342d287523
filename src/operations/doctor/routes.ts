import type { Static } from 'typebox'
import * as Type from 'typebox'
import { notFound } from '../../platform/errors/app-error.ts'
import { nullable } from '../../platform/formats/json-schema.ts'
import type { App, Idempotency } from '../../platform/http/index.ts'
import { type Check, type CheckResult, runChecks } from './check.ts'

const checkSchema = Type.Object(
  {
    name: Type.String({ examples: ['gmail credentials'] }),
    ok: Type.Boolean({ description: 'False when the check failed.' }),
    status: Type.Enum(['ok', 'warning', 'failed', 'skipped'], {
      type: 'string',
      description: 'skipped: the check does not apply, or the provider does not reveal the result.',
    }),
    message: Type.String(),
    remedy: nullable(Type.String({ description: 'What to do about it.' })),
  },
  { title: 'Check' },
)

const validationSchema = Type.Object(
  {
    success: Type.Boolean({ description: 'True when the provider accepts the settings, as far as it says.' }),
    checks: Type.Array(checkSchema),
  },
  { title: 'ProviderValidation' },
)

/** Where `doctor` asks which instance responds at the public URL. */
export const INSTANCE_PATH = '/health/instance'

interface DoctorRoutesDeps {
  instanceId: string
  /** The checks of a provider. Undefined for an unknown one. */
  findChecks(provider: string): Check[] | undefined
  idempotency: Idempotency
}

export function doctorRoutes(app: App, { instanceId, findChecks, idempotency }: DoctorRoutesDeps): void {
  app.get(
    INSTANCE_PATH,
    {
      config: { access: 'public', rateLimit: { address: { limit: 60, windowMs: 60_000 } } },
      schema: {
        tags: ['Operation'],
        operationId: 'getInstance',
        summary: 'Get the id of the instance that responds',
        description: 'Shows whether an address leads to this installation. The id is random and no secret.',
        response: {
          200: Type.Object({
            success: Type.Boolean(),
            data: Type.Object({ instance: Type.String({ examples: ['ins_01k9zw2r95g0zdbezxazthekz0'] }) }),
          }),
        },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      return { success: true, data: { instance: instanceId } }
    },
  )

  app.post(
    '/providers/:providerName/validate',
    {
      config: { access: 'key:admin' },
      schema: {
        tags: ['Operation'],
        operationId: 'validateProvider',
        summary: 'Check the settings of a provider',
        description:
          'Asks the provider whether it accepts the client id, the secret and the redirect address; for a name in OAUTH_PROVIDERS also whether the names of its servers resolve. Takes at most 10 s. Connects no mailbox.',
        params: Type.Object({
          providerName: Type.String({ description: 'gmail, microsoft, imap, or a name in OAUTH_PROVIDERS.' }),
        }),
        response: { 200: validationSchema },
      },
    },
    idempotency.writing(async ({ params: { providerName } }) => {
      const checks = findChecks(providerName)
      if (checks === undefined) throw notFound('provider', providerName)
      const validation = toValidation(await runChecks(checks))
      return async () => validation
    }),
  )
}

function toValidation(results: readonly CheckResult[]): Static<typeof validationSchema> {
  const isAny = (...statuses: CheckResult['status'][]) => results.some(({ status }) => statuses.includes(status))
  return {
    success: !isAny('failed') && isAny('ok', 'warning'),
    checks: results.map((result) => ({ ...result, ok: result.status !== 'failed' })),
  }
}
