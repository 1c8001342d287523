import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../config/index.ts'
import { openApiWebhooks } from '../events/webhooks/index.ts'
import { type OpenApiDocument, openApiDocument, readExamples } from '../platform/http/index.ts'
import { catalogue } from './feature-list.ts'
import { openFeatures } from './features.ts'
import { openInfrastructure } from './infrastructure.ts'
import { httpServer } from './routes.ts'
import { runtimeContext } from './runtime-context.ts'
import { stopParts } from './start-stop.ts'
import { VERSION } from './version.ts'

const INTRODUCTION = new URL('../ui/docs/introduction.md', import.meta.url)

/** The sections of the reference, in the order in which a newcomer needs them. */
const TAGS = [
  {
    name: 'Hosted authentication',
    description:
      'Users connect their mailboxes on pages of this service. Your application creates a session, opens its link in the browser of the user, and gets the browser back with the id of the account.',
  },
  {
    name: 'Accounts',
    description: 'An account is a connected mailbox. The service keeps it in sync until it is paused or deleted.',
  },
  {
    name: 'Connections',
    description:
      'A connection has the credentials with which your application opens all mailboxes of an organisation, without the consent of each user.',
  },
  { name: 'Messages', description: 'The messages of an account, their bodies and their attachments.' },
  {
    name: 'Drafts',
    description: 'The messages in the Drafts folder of an account, kept in sync with the provider in both directions.',
  },
  {
    name: 'Sending',
    description:
      'Messages to send, and what became of them. The service accepts a message, sends it in the background, and never sends it twice.',
  },
  {
    name: 'Tracking',
    description: 'Opens, clicks and replies of sent messages.',
  },
  {
    name: 'Calendars',
    description:
      'The calendars of an account and their events, with the semantics of the Google Calendar API for every provider.',
  },
  {
    name: 'Contacts',
    description:
      'The contacts of an account, their groups and address books. They are synced with the setting CONTACTS_ENABLED.',
  },
  {
    name: 'Scheduler',
    description:
      'An experience is a flow in which guests book a time of your users. Pages and widgets use the public paths without a key.',
  },
  { name: 'Labels', description: 'The labels of a gmail mailbox, or the folders of any other.' },
  {
    name: 'Webhooks',
    description:
      'An endpoint is a URL of your application that receives events. A delivery is one event for one endpoint, with all its attempts.',
  },
  { name: 'Webhook events', description: 'The requests that the service sends to your endpoints, by type of event.' },
  {
    name: 'Events',
    description: 'All recorded events, to read them again or to receive them as a stream instead of webhooks.',
  },
  { name: 'Operation', description: 'For the operators of the service: health, logs and the state of syncs.' },
  { name: 'Push', description: 'Called by Microsoft Graph, not by applications.' },
]

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
        title: 'Posthorn API',
        version: VERSION,
        description: await readFile(INTRODUCTION, 'utf8'),
        serverUrl: context.config.publicUrl,
        tags: TAGS,
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
