import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeBuiltService } from '../scenarios/built-service.ts'
import { loadEachFile } from '../scenarios/loaded-files.ts'
import { fetchNode, type OtherNode } from '../servers/other-node.ts'

const DOWNLOAD_MS = 600_000

describe.each(['22', '24'])('on Node %s', (major) => {
  let node: OtherNode
  beforeAll(async () => {
    node = await fetchNode(major)
  }, DOWNLOAD_MS)
  afterAll(() => node?.close())

  it('is that version', () => {
    expect(node.version).toMatch(new RegExp(`^v${major}\\.`))
  })

  it('loads every file of dist', async () => {
    await loadEachFile(node.program)
  })

  describeBuiltService(() => node.program)
})
