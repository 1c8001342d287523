import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import Ajv from 'ajv/dist/2019.js'
import { validate as lintDockerfile } from 'dockerfile-utils'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { CronJob } from 'kubernetes-models/batch/v1/CronJob'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { SETTINGS } from '../../src/config/index.ts'
import { parseDockerfile } from '../kit/image/dockerfile.ts'
import { fetchKubernetesTools, type KubernetesTools } from '../servers/helm.ts'

const run = promisify(execFile)
const CHART = 'deploy/helm/posthorn'
const KINDS = { ConfigMap, CronJob, Deployment, Ingress, PersistentVolumeClaim, PodDisruptionBudget, Secret, Service }
const WORKLOADS = ['CronJob', 'Deployment']

interface Resource {
  kind: keyof typeof KINDS
  metadata: { name: string }
  // biome-ignore lint/suspicious/noExplicitAny: The tests name the members that they expect.
  [member: string]: any
}

describe('the Dockerfile', async () => {
  const text = await readFile('Dockerfile', 'utf8')

  it('has no fault that the linter of the Dockerfile language server knows', () => {
    expect(lintDockerfile(text)).toEqual([])
  })

  it('ends in a stage of its own with a user, a health check without another program, and node as process 1', () => {
    const stages = parseDockerfile(text)
    const last = stages.at(-1)
    expect(stages.length).toBeGreaterThan(1)
    expect(last?.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect([last?.entrypoint[0], last?.healthcheck[0]]).toEqual(['/nodejs/bin/node', '/nodejs/bin/node'])
    expect(last?.command).toEqual(['start'])
    expect(last?.steps.filter((change) => 'run' in change)).toEqual([])
  })
})

describe('the compose file', async () => {
  const compose = parse(await readFile('deploy/compose.yaml', 'utf8'), { merge: true })

  it('follows the schema of the Compose specification', async () => {
    const schema = JSON.parse(await readFile(join(packageFolder('dclint'), 'schemas/compose.schema.json'), 'utf8'))
    const formats = { duration: true, ports: true, expose: true, subnet_ip_address: true } as const
    const ajv = new Ajv.default({ strict: false, allErrors: true, validateSchema: false, formats })
    const validate = ajv.compile(schema)
    expect([validate(compose), validate.errors]).toEqual([true, null])
  })

  it('runs this version, with a read-only root and settings that exist', () => {
    for (const name of ['posthorn', 'backup']) {
      const { image, read_only: isReadOnly, cap_drop: dropped, environment } = compose.services[name]
      expect([image, isReadOnly, dropped]).toEqual([`posthorn/posthorn:${manifest.version}`, true, ['ALL']])
      expect(unknownSettings(Object.keys(environment))).toEqual([])
    }
  })
})

describe.skipIf(!existsSync('/usr/bin/systemd-analyze'))('the systemd unit', () => {
  it('is understood by systemd', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', 'deploy/posthorn.service'])
    expect(stdout + stderr).toBe('')
  })
})

describe.skipIf(!existsSync('/usr/bin/unzip'))('the Helm chart', () => {
  let tools: KubernetesTools
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'posthorn-chart-'))
    tools = await fetchKubernetesTools()
  })
  afterAll(async () => {
    await tools?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** The values that a user sets, each as `name=value`. */
  const everything = [
    'existingSecret=posthorn-keys',
    'ingress.enabled=true',
    'ingress.className=nginx',
    'ingress.tlsSecret=mail-tls',
    'backup.enabled=true',
    'imagePullSecrets[0].name=registry',
    'nodeSelector.disk=ssd',
    'podLabels.team=mail',
    'podAnnotations.note=x',
  ]
  const fileStore = ['persistence.enabled=true', 'replicaCount=1', 'settings.PUBLIC_URL=https://a.example']
  const ownSecret = ['secret.DATABASE_URL=postgres://db/posthorn', 'secret.SERVICE_API_KEY=k']

  const flags = (values: readonly string[]) => values.flatMap((value) => ['--set', value])

  async function render(values: readonly string[]): Promise<Resource[]> {
    const text = await tools.helm(['template', 'mail', CHART, ...flags(values)])
    return parseAllDocuments(text).flatMap((document) => (document.toJS() ?? []) as Resource)
  }

  it('has the version of the service, and passes the linter', async () => {
    const chart = parse(await readFile(`${CHART}/Chart.yaml`, 'utf8'))
    expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version])
    for (const values of [everything, fileStore, ownSecret]) {
      expect(await tools.helm(['lint', '--strict', CHART, ...flags(values)])).toContain('0 chart(s) failed')
    }
  })

  it('renders resources that the schemas of Kubernetes accept', async () => {
    for (const values of [everything, fileStore, ownSecret]) {
      const resources = await render(values)
      expect(resources.length).toBeGreaterThan(3)
      for (const resource of resources) {
        const { kind } = resource
        // biome-ignore lint/suspicious/noExplicitAny: It is validated here.
        expect(() => new (KINDS[kind] as any)(resource).validate(), kind).not.toThrow()
        if (!WORKLOADS.includes(kind)) continue
        // kubectl reads the resource into the types of Kubernetes, which drops every member that they do not know.
        const file = join(folder, `${kind}.json`)
        await writeFile(file, JSON.stringify(resource))
        const known = await tools.kubectl(['set', 'env', '--local', '-f', file, 'ADDED=1', '-o', 'json'])
        expect(withoutEmpty(JSON.parse(known))).toMatchObject(Object(withoutEmpty(resource)))
      }
    }
  })

  it('runs as another user than root, with a read-only root file system, and replaces pods without a pause', async () => {
    const deployment = (await render(everything)).find(({ kind }) => kind === 'Deployment')
    const { spec } = deployment?.spec.template ?? {}
    expect(deployment?.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 })
    expect(spec.containers[0].securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    })
    expect(spec.containers[0].image).toBe(`posthorn/posthorn:${manifest.version}`)
    expect(spec.containers[0].readinessProbe.httpGet.path).toBe('/health/ready')
    const [single] = (await render(fileStore)).filter(({ kind }) => kind === 'Deployment')
    expect(single?.spec.strategy).toEqual({ type: 'Recreate' })
  })

  it('names only settings that exist', async () => {
    const resources = [...(await render(everything)), ...(await render(ownSecret))]
    const names = resources.flatMap(({ data, stringData }) => Object.keys({ ...data, ...stringData }))
    expect(names).toEqual(expect.arrayContaining(['PUBLIC_URL', 'DATA_DIR', 'DATABASE_URL']))
    expect(unknownSettings(names)).toEqual([])
  })

  it.each([
    ['replicas on the file store', ['persistence.enabled=true'], 'set replicaCount to 1'],
    ['no store', [], 'Set existingSecret'],
    ['a value that does not exist', ['existingSecret=x', 'replicas=3'], "additional properties 'replicas' not allowed"],
    ['a number, which Helm would round', ['existingSecret=x', 'settings.MAX_CONNECTIONS=80000000'], 'MAX_CONNECTIONS'],
    ['the port, which the chart sets', ['existingSecret=x', 'settings.PORT=1'], 'settings'],
  ])('refuses %s', async (_title, values, message) => {
    await expect(render(values)).rejects.toMatchObject({ stderr: expect.stringContaining(message) })
  })
})

function unknownSettings(names: readonly string[]): string[] {
  const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env))
  return names.filter((name) => !known.has(name))
}

function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
}

/** Without empty objects, lists and texts, which Kubernetes leaves out. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, member]) => [name, withoutEmpty(member)] as const)
  return Object.fromEntries(
    entries.filter(([, member]) => JSON.stringify(member) !== '{}' && member !== '' && member !== undefined),
  )
}
