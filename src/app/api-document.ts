import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../config/index.ts'
import { openApiWebhooks } from '../features/webhooks/index.ts'
import { type OpenApiDocument, openApiDocument, readExamples } from '../infra/http/index.ts'
import { catalogue } from './event-catalogue.ts'
import { openFeatures, stopParts } from './features.ts'
import { openInfrastructure } from './infrastructure.ts'
import { httpServer } from './routes.ts'
import { runtimeContext } from './runtime-context.ts'
import { VERSION } from './version.ts'

/**
 * The OpenAPI document of the routes with default settings: `openapi.json`. Runs from the sources only. It composes a service on a
 * temporary store, without starting it.
 */
export async function apiDocument(): Promise<OpenApiDocument> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-openapi-'))
  const environment = { DATA_DIR: folder, LOG_LEVEL: 'error' }
  const context = runtimeContext(loadConfig({ environment, folder }))
  try {
    const infrastructure = await openInfrastructure(context, new AbortController().signal, () => {})
    try {
      const features = openFeatures(context, infrastructure)
      const server = httpServer(context, infrastructure, features, () => 'starting')
      await server.ready()
      const info = {
        title: 'Posthorn',
        version: VERSION,
        description: 'Mailboxes behind one REST API and signed webhooks.',
        serverUrl: context.config.publicUrl,
      }
      const parts = { webhooks: openApiWebhooks(catalogue), examples: await readExamples() }
      const document = openApiDocument(server.routeTable, info, parts)
      await server.close()
      await stopParts(features.parts, 0)
      return document
    } finally {
      await infrastructure.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
