import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callEveryTool } from '../scenarios/mcp-calls.ts'
import { type McpStage, openMcpStage } from '../scenarios/mcp-stage.ts'
import { fetchInspector, type Inspector } from '../servers/clients/inspector.ts'
import { fetchNode, type OtherNode } from '../servers/other-node.ts'

/** Needs a newer Node than the service. */
const VERSION = '2.12.0'
const DOWNLOAD_MS = 900_000

describe('the MCP Inspector', () => {
  let node: OtherNode
  let inspector: Inspector
  let stage: McpStage
  beforeAll(async () => {
    node = await fetchNode('22')
    inspector = await fetchInspector(VERSION, node.program)
    stage = await openMcpStage()
  }, DOWNLOAD_MS)
  afterAll(async () => {
    await stage?.close()
    await inspector?.close()
    await node?.close()
  })

  it.each([
    ['HTTP', 11],
    ['stdio', 14],
  ] as const)('lists and calls each tool over %s', async (transport, hour) => {
    const { url, key } = stage.service
    const target =
      transport === 'HTTP'
        ? [`${url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`]
        : [process.execPath, 'dist/posthorn.js', 'mcp', '--url', url, '--key', key]
    const { tools } = await inspector.run(...target, '--method', 'tools/list', '--strict')
    const called = await callEveryTool(
      async (name, args = {}) => {
        const pairs = Object.entries(args).flatMap(([argument, value]) => [
          '--tool-arg',
          `${argument}=${JSON.stringify(value)}`,
        ])
        const result = await inspector.run(...target, '--method', 'tools/call', '--tool-name', name, ...pairs)
        expect([name, result.isError === true ? result.content : []]).toEqual([name, []])
        return result.structuredContent
      },
      stage,
      hour,
    )
    expect(called.toSorted()).toEqual(tools.map(({ name }: { name: string }) => name).toSorted())
  })
})
