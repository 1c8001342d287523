import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'
import { ProviderError } from '../contract/index.ts'
import { shape } from '../rest/index.ts'

/** Who reads the subscription. The key signs and cannot be printed. */
export interface ServiceAccount {
  email: string
  project: string
  key: KeyObject
  keyId: string | undefined
  tokenUrl: string
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token'

const file = shape(
  Type.Object({
    type: Type.Literal('service_account'),
    project_id: Type.String({ minLength: 1 }),
    client_email: Type.String({ minLength: 3 }),
    private_key: Type.String(),
    private_key_id: Type.Optional(Type.String()),
    token_uri: Type.Optional(Type.String()),
  }),
)

/** The key file that Google makes for a service account: its JSON, or where it lies. What is thrown names no part of it. */
export async function readCredentials(pathOrJson: string): Promise<ServiceAccount> {
  const given = pathOrJson.trimStart().startsWith('{') ? pathOrJson : await contents(pathOrJson)
  try {
    const read = file(JSON.parse(given))
    const { client_email: email, project_id: project, private_key_id: keyId, token_uri: tokenUrl = TOKEN_URL } = read
    const { protocol } = new URL(tokenUrl)
    if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('another scheme')
    return { email, project, keyId, tokenUrl, key: createPrivateKey(read.private_key) }
  } catch {
    throw new ProviderError('rejected', 'APPLICATION_CREDENTIALS is not the JSON key of a service account')
  }
}

async function contents(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ProviderError('rejected', 'APPLICATION_CREDENTIALS names a file that cannot be read', { cause })
  }
}
