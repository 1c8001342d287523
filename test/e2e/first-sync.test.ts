import { expect, it } from 'vitest'
import { closing } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { startService } from '../kit/service/service.ts'
import { client } from '../scenarios/client.ts'
import { startScriptedImap } from '../servers/scripted-imap.ts'

it('syncs a new account over the connection that verified its password', async () => {
  const server = closing(await startScriptedImap({}))
  const service = await startService()
  closing({ close: () => service.stop() })
  const api = client(service.url, service.key)
  const { host, port, username } = server.access.settings.imap ?? {}
  const { id } = await api.call<{ id: string }>('POST', '/accounts', {
    provider: 'imap',
    email: 'ada@example.com',
    secure: true,
    allowSelfSigned: true,
    host,
    port,
    username,
    password: server.access.secrets.password,
  })
  await eventually(async () => (await api.call('GET', `/accounts/${id}`)).status === 'connected')
  expect(server.commands.filter((name) => name === 'LOGIN')).toHaveLength(1)
})
