import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../platform/time/clock.ts'
import { metrics } from './index.ts'

const PROMTOOL = '/usr/bin/promtool'
const read = (file: string) => readFile(`deploy/${file}`, 'utf8')
const promtool = (...args: string[]) => promisify(execFile)(PROMTOOL, args, { cwd: 'deploy' })

/** Every metric of a running service, with the series of histograms. */
function served(): Set<string> {
  const all = metrics({ clock: systemClock, version: '1' })
  all.observe({
    ownership: { onChange: () => {}, owned: () => new Map() },
    syncTotals: () => ({ waiting: 0, active: 0, delayed: 0, greatestLagMs: 0 }),
    figures: () => new Promise(() => {}),
    eventLoop: { read: () => ({ meanMs: 0, p99Ms: 0, maxMs: 0 }) },
    droppedLogRecords: () => 0,
  })
  return new Set(all.names().flatMap((name) => [name, `${name}_count`, `${name}_sum`, `${name}_bucket`]))
}

const NAME = /\b(?:posthorn|process)_[a-z_0-9]+\b/g

describe('deploy/', () => {
  it('names only metrics that the service serves, and docs/operations.md names each of them', async () => {
    const names = served()
    const docs = await readFile('docs/operations.md', 'utf8')
    for (const [file, text] of [
      ['alerts.yml', await read('alerts.yml')],
      ['alerts.test.yml', await read('alerts.test.yml')],
      ['grafana-dashboard.json', await read('grafana-dashboard.json')],
    ] as const) {
      const used = [...new Set(text.match(NAME) ?? [])]
      expect(used.length).toBeGreaterThan(10)
      expect([file, used.filter((name) => !names.has(name))]).toEqual([file, []])
    }
    const documented = new Set(docs.match(NAME))
    const own = [...names].filter((name) => name.startsWith('posthorn_') && !/_(count|sum|bucket)$/.test(name))
    expect(own.filter((name) => !documented.has(name))).toEqual([])
  })

  it('has a remedy in docs/operations.md for each alert, and a test', async () => {
    const alerts = [...(await read('alerts.yml')).matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
    const [docs, tests] = [await readFile('docs/operations.md', 'utf8'), await read('alerts.test.yml')]
    expect(alerts.length).toBeGreaterThan(10)
    for (const name of alerts) {
      expect(docs).toContain(`\n#### ${name}\n`)
      expect(tests).toContain(`        alertname: ${name}\n`)
    }
  })

  it('has a dashboard without two panels at one place', async () => {
    const { panels } = JSON.parse(await read('grafana-dashboard.json'))
    const places = panels.map(({ gridPos }: { gridPos: { x: number; y: number } }) => `${gridPos.x} ${gridPos.y}`)
    expect(new Set(places).size).toBe(panels.length)
  })

  it('starts the built service in the systemd unit and gives it time to drain', async () => {
    const unit = await read('posthorn.service')
    expect(unit).toMatch(/^ExecStart=\/usr\/bin\/node \/opt\/posthorn\/dist\/posthorn\.js start$/m)
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(30)
  })

  describe.skipIf(!existsSync(PROMTOOL))('checked by promtool', () => {
    it('has valid rules that fire when they should, and not otherwise', async () => {
      await promtool('check', 'rules', 'alerts.yml')
      await promtool('test', 'rules', 'alerts.test.yml')
    })

    it('has a valid scrape configuration', async () => {
      const { stdout } = await promtool('check', 'config', '--syntax-only', 'prometheus.yml')
      expect(stdout).toContain('SUCCESS')
    })
  })
})
