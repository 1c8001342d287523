import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePackage, type InstalledPackage, installPackage } from '../scenarios/installed-package.ts'
import { fetchNode, type OtherNode } from '../servers/other-node.ts'

let installed: InstalledPackage
beforeAll(async () => {
  installed = await installPackage()
})
afterAll(() => installed?.remove())

/** The oldest that package.json allows, and the newest of the later ones. */
describe.each(['20.19.0', '22', '24'])('Node %s', (version) => {
  let node: OtherNode
  beforeAll(async () => {
    node = await fetchNode(version)
  })
  afterAll(() => node?.close())

  it('is that version', () => {
    expect(`${node.version}.`).toMatch(new RegExp(`^v${version.replaceAll('.', '\\.')}\\.`))
  })

  describePackage(
    'runs the installed package',
    () => installed,
    () => node.program,
  )
})
