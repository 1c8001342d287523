import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Findings } from './findings.mjs'
import { googleChecker } from './google.mjs'
import { graphChecker } from './graph.mjs'

const GMAIL = {
  name: 'gmail',
  servicePath: '',
  schemas: {
    Message: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        sizeEstimate: { type: 'integer' },
        raw: { type: 'string', format: 'byte' },
      },
    },
    List: { type: 'object', properties: { messages: { type: 'array', items: { $ref: 'Message' } } } },
  },
  resources: {
    messages: {
      methods: {
        list: {
          httpMethod: 'GET',
          path: 'gmail/v1/users/{userId}/messages',
          parameters: {
            maxResults: { type: 'integer', location: 'query' },
            labelIds: { type: 'string', location: 'query', repeated: true },
          },
          response: { $ref: 'List' },
        },
        send: {
          httpMethod: 'POST',
          path: 'gmail/v1/users/{userId}/messages/send',
          request: { $ref: 'Message' },
          response: { $ref: 'Message' },
        },
      },
    },
  },
}

const PEOPLE = {
  name: 'people',
  servicePath: '',
  schemas: { Connections: { type: 'object', properties: { nextSyncToken: { type: 'string' } } } },
  resources: {
    connections: {
      methods: {
        list: {
          httpMethod: 'GET',
          path: 'v1/{+resourceName}/connections',
          flatPath: 'v1/people/{peopleId}/connections',
          parameters: {
            pageSize: { type: 'integer', location: 'query' },
            personFields: { type: 'string', location: 'query', description: 'Valid values are: * names * photos' },
            requestSyncToken: { type: 'boolean', location: 'query' },
            sortOrder: { type: 'string', location: 'query' },
          },
          response: { $ref: 'Connections' },
        },
      },
    },
  },
}

const DIRECTORY = {
  name: 'admin',
  servicePath: '',
  schemas: {
    Users: { type: 'object', properties: { users: { type: 'array', items: { $ref: 'User' } } } },
    User: { type: 'object', properties: { primaryEmail: { type: 'string' } } },
  },
  resources: {
    users: {
      methods: {
        list: {
          httpMethod: 'GET',
          path: 'admin/directory/v1/users',
          parameters: {
            customer: { type: 'string', location: 'query' },
            maxResults: { type: 'integer', location: 'query' },
          },
          response: { $ref: 'Users' },
        },
      },
    },
  },
}

const CSDL = `<Schema Namespace="microsoft.graph">
  <EnumType Name="importance"><Member Name="low"/><Member Name="high"/></EnumType>
  <EntityType Name="entity"><Property Name="id" Type="Edm.String" Nullable="false"/></EntityType>
  <EntityType Name="user" BaseType="graph.entity">
    <Property Name="mail" Type="Edm.String"/>
    <NavigationProperty Name="messages" Type="Collection(graph.message)"/>
  </EntityType>
  <EntityType Name="message" BaseType="graph.entity">
    <Property Name="subject" Type="Edm.String"/>
    <Property Name="importance" Type="graph.importance"/>
    <Property Name="receivedDateTime" Type="Edm.DateTimeOffset"/>
    <NavigationProperty Name="attachments" Type="Collection(graph.entity)"/>
  </EntityType>
  <Action Name="move">
    <Parameter Name="bindingParameter" Type="graph.message"/><Parameter Name="DestinationId" Type="Edm.String"/>
    <ReturnType Type="graph.message"/>
  </Action>
  <Function Name="delta">
    <Parameter Name="bindingParameter" Type="Collection(graph.message)"/>
    <ReturnType Type="Collection(graph.message)"/>
  </Function>
</Schema>`

describe('the checkers of the vendors', () => {
  let folder
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'posthorn-vendors-'))
    mkdirSync(join(folder, 'google'))
    const documents = { 'gmail.v1': GMAIL, 'people.v1': PEOPLE, 'admin.directory_v1': DIRECTORY }
    for (const name of ['gmail.v1', 'calendar.v3', 'people.v1', 'pubsub.v1', 'admin.directory_v1']) {
      const document = documents[name] ?? { servicePath: '', schemas: {} }
      writeFileSync(join(folder, 'google', `${name}.json`), JSON.stringify(document))
    }
    writeFileSync(join(folder, 'graph-v1.0.csdl'), CSDL)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function found(record) {
    const findings = new Findings()
    const checkers = [googleChecker(folder, findings), graphChecker(folder, findings)]
    const files = {
      method: 'GET',
      headers: { prefer: 'IdType="ImmutableId"', 'content-type': 'application/json' },
      body: '',
      status: 200,
      isComplete: true,
      ...record,
      responseBody: JSON.stringify(record.responseBody),
    }
    checkers.find(({ handles }) => handles(files.url.split('?')[0])).check(files)
    return findings.list().map(({ side, what }) => `${side}: ${what}`)
  }

  it.each([
    [
      '/gmail/v1/users/me/messages?labelIds=A&labelIds=B&maxResults=500&fields=messages(id)',
      { messages: [{ id: '1' }] },
      [],
    ],
    ['/gmail/v1/users/me/mail', {}, ['request: no such method']],
    ['/v1/people/me/connections?personFields=names,photos&pageSize=1000', { nextSyncToken: 't' }, []],
    ['/v1/people/me/connections?personFields=names,ages', {}, ['request: personFields names the unknown ages']],
    ['/v1/people/me/connections?pageSize=1001', {}, ['request: pageSize is over the cap']],
    ['/v1/people/me/connections?requestSyncToken=true&sortOrder=A', {}, ['request: sortOrder with a sync']],
    ['/gmail/v1/users/me/messages?page=2', {}, ['request: unknown parameter page']],
    ['/gmail/v1/users/me/messages?maxResults=501', {}, ['request: maxResults is over the cap']],
    ['/gmail/v1/users/me/messages?fields=messages(id,size)', {}, ['request: the fields mask names the unknown size']],
    [
      '/gmail/v1/users/me/messages',
      { messages: [{ sizeEstimate: '1' }] },
      ['response: .messages[].sizeEstimate is no integer'],
    ],
    ['/gmail/v1/users/me/messages', { total: 1 }, ['response: unknown property .total']],
    ['/admin/directory/v1/users?customer=my_customer&maxResults=500', { users: [{ primaryEmail: 'a' }] }, []],
    ['/admin/directory/v1/users?domain=x', {}, ['request: unknown parameter domain']],
    ['/admin/directory/v1/users?maxResults=501', {}, ['request: maxResults is over the cap']],
  ])('Google: %s', (url, responseBody, expected) => {
    expect(found({ url, responseBody })).toEqual(expected)
  })

  it('checks the parts of a batch, and bodies, against their own methods', () => {
    const part = (id, text) => `--b\r\nContent-Type: application/http\r\nContent-ID: <${id}>\r\n\r\n${text}\r\n`
    const request =
      'POST /gmail/v1/users/me/messages/send HTTP/1.1\r\ncontent-type: application/json\r\n\r\n{"raw":"a b"}'
    const findings = new Findings()
    googleChecker(folder, findings).check({
      method: 'POST',
      url: '/batch/gmail/v1',
      headers: {},
      status: 200,
      isComplete: true,
      body: `${part('1', request)}--b--`,
      responseBody: `${part('response-1', 'HTTP/1.1 404 Not Found\r\n\r\n{"error":{"code":500}}')}--b--`,
    })
    expect(findings.list().map(({ what }) => what)).toEqual([
      '.raw is no byte',
      'error 404 without a reason',
      'error.code differs from the status 404',
    ])
  })

  const page = (...items) => ({ '@odata.context': 'x', value: items })
  const message = { id: '1', '@odata.etag': 'W/"1"' }
  it.each([
    ['/v1.0/me/messages?$select=subject&$top=10', page({ ...message, subject: 'a' }), []],
    ['/v1.0/me/mail', {}, ['request: no such resource']],
    ['/v1.0/users/ada%40acme.example/messages?$select=subject', page({ ...message, subject: 'a' }), []],
    ['/v1.0/users/1/mail', {}, ['request: no such resource']],
    ['/v1.0/users?$select=mail&$top=10', page({ id: '1', mail: 'a' }), []],
    ['/v1.0/users?$select=office', page(), ['request: $select of the unknown office of user']],
    ['/v1.0/users?$search="mail:a"', page(), ['request: no ConsistencyLevel: eventual']],
    ['/v1.0/me/messages?$select=body', page(), ['request: $select of the unknown body of message']],
    [
      '/v1.0/me/messages?$select=subject',
      page({ ...message, importance: 'low' }),
      ['response: importance, which is not selected'],
    ],
    [
      '/v1.0/me/messages',
      page({ ...message, importance: 'medium' }),
      ['response: .importance is not in the enum importance'],
    ],
    [
      '/v1.0/me/messages',
      { value: [{ id: '1' }] },
      ['response: an item without @odata.etag', 'response: no @odata.context'],
    ],
    [
      '/v1.0/me/messages?$filter=subject eq 1&$orderby=receivedDateTime desc',
      page(),
      ['request: InefficientFilter: $orderby properties must come first in $filter'],
    ],
    [
      '/v1.0/me/messages/delta?$expand=attachments($filter=id eq 1)',
      page(),
      ['request: $expand with options, which a function without EntitySetPath refuses'],
    ],
  ])('Graph: %s', (url, responseBody, expected) => {
    expect(found({ url, responseBody })).toEqual(expected)
  })

  it('checks the items of a batch, parameters of actions and missing preferences', () => {
    const request = { id: '1', method: 'POST', url: '/me/messages/a/move', body: { folder: 'x' } }
    const record = {
      method: 'POST',
      url: '/v1.0/$batch',
      body: JSON.stringify({ requests: [request] }),
      responseBody: { responses: [{ id: '1', status: 200, body: { id: 'a' } }] },
    }
    expect(found(record)).toEqual([
      'request: a body without Content-Type',
      'request: no Prefer: IdType="ImmutableId"',
      'request: unknown parameter folder of the action',
      'response: status 200, documented is 201',
    ])
  })
})
