import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkImports } from './check-imports.mjs'

const roots = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true })
})

/** The violations in a tree given as `{ 'infra/db/index.ts': "import …" }`. */
function violationsOf(tree) {
  const root = mkdtempSync(join(tmpdir(), 'posthorn-imports-'))
  roots.push(root)
  for (const [file, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, 'src', file)), { recursive: true })
    writeFileSync(join(root, 'src', file), text)
  }
  return checkImports(root)
}

describe('allows imports', () => {
  it('downward, through the index of a module', () => {
    expect(
      violationsOf({
        'lib/ids.ts': '',
        'infra/db/index.ts': "export { open } from './open.ts'",
        'infra/db/open.ts': "import { ids } from '../../lib/ids.ts'",
        'providers/contract/index.ts': "import type { Db } from '../../infra/db/index.ts'",
        'features/accounts/index.ts':
          "import { open } from '../../infra/db/index.ts'\nimport { kind } from '../../providers/contract/index.ts'",
        'features/sync/index.ts': "import { accounts } from '../accounts/index.ts'",
        'app/features.ts':
          "import { sync } from '../features/sync/index.ts'\nimport { config } from '../config/index.ts'\nimport { store } from './store.ts'",
        'app/store.ts': '',
        'config/index.ts': '',
        'main.ts': "import { app } from './app/features.ts'",
      }),
    ).toEqual([])
  })

  it('of types and read fragments within a layer', () => {
    expect(
      violationsOf({
        'features/drafts/index.ts': "export { labelNames } from './read.ts'\nexport type { Label } from './label.ts'",
        'features/drafts/read.ts': '',
        'features/drafts/label.ts': '',
        'features/outbox/a.ts': "import { type Label, labelNames } from '../drafts/index.ts'",
        'features/outbox/b.ts': "import type {\n  Label,\n} from '../drafts/index.ts'",
      }),
    ).toEqual([])
  })

  it('from sync to messages and labels, and from providers to their contract', () => {
    expect(
      violationsOf({
        'features/sync/index.ts':
          "import { messageStore } from '../messages/index.ts'\nimport { labelStore } from '../labels/index.ts'",
        'features/messages/index.ts': "import { labelStore } from '../labels/index.ts'",
        'features/labels/index.ts': '',
        'providers/imap/index.ts': "import { ProviderError } from '../contract/index.ts'",
        'providers/contract/index.ts': '',
      }),
    ).toEqual([])
  })

  it('of the base modules of infra and ui by their other modules', () => {
    expect(
      violationsOf({
        'infra/queue/index.ts': "import { stateOr } from '../db/index.ts'",
        'infra/db/index.ts': '',
        'ui/booking/page.ts': "import { brand } from '../hosted/index.ts'",
        'ui/hosted/index.ts': '',
        'ui/widget/theme.ts': "import { brand } from '../hosted/brand.ts'",
      }),
    ).toEqual([])
  })
})

describe('rejects', () => {
  it.each([
    ['lib', 'infra/db', 'lib/ids.ts: imports infra/db/index.ts, which is on a higher layer (1 above 0).', 'lib/ids.ts'],
    [
      'infra',
      'events',
      'infra/db/x.ts: imports events/index.ts, which is on a higher layer (2 above 1).',
      'infra/db/x.ts',
    ],
    [
      'a provider',
      'features/accounts',
      'providers/imap/x.ts: imports features/accounts/index.ts, which is on a higher layer (3 above 2).',
      'providers/imap/x.ts',
    ],
    [
      'accounts',
      'features/sync',
      'features/accounts/x.ts: imports features/sync/index.ts, which is on a higher layer (4 above 3).',
      'features/accounts/x.ts',
    ],
  ])('an upward import, even of types, from %s to %s', (_from, to, violation, file) => {
    const up = '../'.repeat(file.split('/').length - 1)
    expect(violationsOf({ [file]: `import type { X } from '${up}${to}/index.ts'`, [`${to}/index.ts`]: '' })).toEqual([
      violation,
    ])
  })

  it('a feature that reads the configuration or the composition root', () => {
    expect(
      violationsOf({
        'features/sync/x.ts':
          "import type { Config } from '../../config/index.ts'\nimport type { App } from '../../app/lifecycle.ts'",
        'config/index.ts': '',
        'app/lifecycle.ts': '',
      }),
    ).toEqual([
      'features/sync/x.ts: imports config/index.ts, which is on a higher layer (5 above 4).',
      'features/sync/x.ts: imports app/lifecycle.ts, which is on a higher layer (6 above 4).',
    ])
  })

  it('labels that import messages', () => {
    expect(
      violationsOf({
        'features/labels/x.ts': "import type { M } from '../messages/index.ts'",
        'features/messages/index.ts': '',
      }),
    ).toEqual(['features/labels/x.ts: imports features/messages/index.ts, which is on a higher layer (3.2 above 3.1).'])
  })

  it('a module imported past its index', () => {
    expect(
      violationsOf({
        'features/sync/x.ts': "import { store } from '../accounts/store.ts'",
        'features/accounts/store.ts': '',
      }),
    ).toEqual(['features/sync/x.ts: imports features/accounts/store.ts; import it through features/accounts/index.ts.'])
    expect(
      violationsOf({ 'app/app.ts': "import { record } from '../events/record.ts'", 'events/record.ts': '' }),
    ).toEqual(['app/app.ts: imports events/record.ts; import it through events/index.ts.'])
  })

  it('a value imported within a layer', () => {
    const message = 'within a layer only types and read fragments may be imported.'
    expect(
      violationsOf({
        'features/drafts/index.ts': "export { labelStore } from './store.ts'",
        'features/drafts/store.ts': '',
        'features/outbox/a.ts': "import { labelStore } from '../drafts/index.ts'",
        'features/outbox/b.ts': "import '../drafts/index.ts'",
        'features/outbox/c.ts': "export * from '../drafts/index.ts'",
        'features/outbox/d.ts': "const labels = await import('../drafts/index.ts')",
      }),
    ).toEqual([
      `features/outbox/a.ts: imports labelStore from features/drafts/index.ts; ${message}`,
      ...['b', 'c', 'd'].map(
        (name) => `features/outbox/${name}.ts: imports * from features/drafts/index.ts; ${message}`,
      ),
    ])
  })

  it('a value that one base module of infra imports from another', () => {
    expect(
      violationsOf({ 'infra/db/x.ts': "import { logger } from '../log/index.ts'", 'infra/log/index.ts': '' }),
    ).toEqual([
      'infra/db/x.ts: imports logger from infra/log/index.ts; infra/db and infra/log are both base modules and may share only types.',
    ])
  })

  it('a cycle of values, but not of types', () => {
    expect(
      violationsOf({
        'lib/a.ts': "import { b } from './b.ts'",
        'lib/b.ts': "import { c } from './c.ts'",
        'lib/c.ts': "import { a } from './a.ts'",
      }),
    ).toEqual(['cycle: lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts'])
    expect(
      violationsOf({ 'lib/a.ts': "import { b } from './b.ts'", 'lib/b.ts': "import type { A } from './a.ts'" }),
    ).toEqual([])
  })
})
