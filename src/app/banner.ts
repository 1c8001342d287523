import type { Config } from '../config/index.ts'
import { columns } from '../platform/formats/text.ts'
import { portalAccess } from './portal-access.ts'
import { VERSION } from './version.ts'

/** The first screen of a service that was started in a terminal. `url` is the address on which it listens. */
export function banner(config: Config, url: string): string {
  const { dataDir, port, serviceApiKey, databaseUrl } = config
  const publicUrl = port === 0 ? url : config.publicUrl
  // The key itself could end up in a recording or a screenshot of the terminal.
  const key = serviceApiKey === undefined ? `in ${dataDir}/service-api-key` : 'SERVICE_API_KEY'
  const portal = portalAccess(config)
  const rows: string[][] = [
    ['API', publicUrl],
    ['API key', key],
    ['Docs', `${publicUrl}/docs`],
    ...(portal === undefined
      ? [['Portal', 'off; set ADMIN_PASSWORD to turn it on']]
      : [
          ['Portal', `${publicUrl}/admin`],
          ['Sign-in', `user ${portal.username}, password in ${portal.passwordIn}`],
        ]),
    ['Data', databaseUrl === undefined ? `in ${dataDir}` : 'in PostgreSQL (DATABASE_URL)'],
  ]
  const next = [
    ['Connect a mailbox', 'npx posthorn connect'],
    ['Watch events', 'npx posthorn listen'],
    ['Send a test event', 'npx posthorn trigger message.received'],
  ]
  return [
    '',
    `  Posthorn ${VERSION}`,
    '',
    ...columns(rows),
    '',
    '  Next, in another terminal:',
    ...columns(next),
    '',
    '  Press Ctrl-C to stop.',
    '',
    '',
  ].join('\n')
}
