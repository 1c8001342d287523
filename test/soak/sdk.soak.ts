import { rm } from 'node:fs/promises'
import { afterAll, beforeAll } from 'vitest'
import { describeReadme, installSdk } from '../../sdk/test/installed-sdk.ts'
import { fetchNode } from '../servers/other-node.ts'

let project: string
beforeAll(async () => {
  project = await installSdk()
})
afterAll(() => rm(project, { recursive: true, force: true }))

/** The oldest that package.json allows, and the newest of the later ones. */
describeReadme(() => project, ['20.19.0', '22', '24'], fetchNode)
