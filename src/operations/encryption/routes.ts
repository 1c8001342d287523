import type { App, Idempotency } from '../../platform/http/index.ts'
import { addedKey, keyStatus, promoteBody, resealBody, resealResult } from './api.ts'
import type { Encryption } from './encryption.ts'

const tags = ['Operation']
const PATH = '/encryption-keys'

interface EncryptionRouteDeps {
  encryption: Encryption
  idempotency: Idempotency
}

/** Serves `posthorn rotate-encryption`. */
export function encryptionRoutes(app: App, { encryption, idempotency }: EncryptionRouteDeps): void {
  app.get(
    PATH,
    {
      config: { access: 'key:admin' },
      schema: {
        tags,
        operationId: 'listEncryptionKeys',
        summary: 'Get the ids of the encryption keys',
        description: 'The keys themselves are never returned.',
        response: { 200: keyStatus },
      },
    },
    () => encryption.status(),
  )

  app.post(
    PATH,
    {
      config: { access: 'key:admin', audit: 'encryption_key.added' },
      schema: {
        tags,
        operationId: 'createEncryptionKey',
        summary: 'Add an encryption key',
        description:
          'Generates a key that opens secrets and does not seal yet. Only without ENCRYPTION_KEYS. Every instance knows it within seconds.',
        response: { 200: addedKey },
      },
    },
    idempotency.writing(async (request) => {
      const keyId = await encryption.add()
      return async (tx) => {
        await request.recordAudit(tx, { target: keyId })
        return { success: true, keyId }
      }
    }),
  )

  app.post(
    `${PATH}/promote`,
    {
      config: { access: 'key:admin', audit: 'encryption_key.promoted' },
      schema: {
        tags,
        operationId: 'promoteEncryptionKey',
        summary: 'Seal with an encryption key',
        description: 'Makes a known key the one that seals new secrets. 409 until every instance knows it.',
        body: promoteBody,
        response: { 200: addedKey },
      },
    },
    idempotency.writing(async (request) => {
      const keyId = await encryption.promote(request.body?.keyId)
      return async (tx) => {
        await request.recordAudit(tx, { target: keyId })
        return { success: true, keyId }
      }
    }),
  )

  app.post(
    `${PATH}/reseal`,
    {
      config: { access: 'key:admin' },
      schema: {
        tags,
        operationId: 'resealSecrets',
        summary: 'Seal stored secrets again',
        description:
          'Checks some hundred stored secrets and seals those again that have another key than the one that seals. Repeat it with `next` until that is null. A pass from the beginning to the end with `resealed: 0` proves that no secret has another key.',
        body: resealBody,
        response: { 200: resealResult },
      },
    },
    idempotency.writing(async ({ body }) => {
      const result = await encryption.reseal(body?.after)
      return async () => ({ success: true, ...result })
    }),
  )
}
