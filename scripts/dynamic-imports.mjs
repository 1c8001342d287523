// Fails a build when a name that a source takes from `import()` is not an export of the file that the bundle loads for it. The bundled
// file of a CommonJS package has only `default`, whereas Node and the types also know the names of the package.
import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { importedNames } from './imported-names.mjs'

/**
 * Throws an error that has one line for each name that does not exist.
 * @param {import('esbuild').Metafile} metafile of a build in the current directory
 */
export async function checkDynamicImports(metafile) {
  const problems = await missingNames(metafile, process.cwd())
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/**
 * @param {import('esbuild').Metafile} metafile
 * @param {string} root the folder that its paths begin in
 * @returns {Promise<string[]>} one sentence for each name that does not exist
 */
export async function missingNames(metafile, root) {
  const exportsByEntry = new Map(
    Object.values(metafile.outputs).flatMap(({ entryPoint, exports }) =>
      entryPoint === undefined ? [] : [[entryPoint, exports]],
    ),
  )
  const problems = []
  for (const [file, { imports }] of Object.entries(metafile.inputs)) {
    const targets = new Map(
      imports.filter(({ kind }) => kind === 'dynamic-import').map((target) => [target.original ?? target.path, target]),
    )
    if (targets.size === 0) continue
    const path = resolve(root, file)
    for (const use of importedNames(path, readFileSync(path, 'utf8'))) {
      const target = targets.get(use.specifier)
      if (target === undefined) continue // In code that the bundler left out.
      const isExternal = target.external === true
      const names = isExternal ? await namesInNode(use, target.path) : exportsByEntry.get(target.path)
      // A module without a file of its own is part of the file that loads it, with every name.
      if (names === undefined) continue
      const isCommonJs = !isExternal && metafile.inputs[target.path]?.format === 'cjs'
      problems.push(...findProblems({ ...use, file: relative(root, path) }, names, isCommonJs))
    }
  }
  return [...new Set(problems)]
}

/** The exports of a package that is not bundled. Node loads it as the service will. */
async function namesInNode({ names }, path) {
  if (names.length === 0) return undefined
  return Object.keys(await import(path))
}

function findProblems({ file, line, specifier, names, isPassedOn }, exported, isCommonJs) {
  const at = `${file}:${line}: `
  const advice = isCommonJs
    ? `The package is CommonJS: write "const { default: name } = await import('${specifier}')" and read the name from that.`
    : `Take a name that exists: ${exported.join(', ') || '(it has none)'}.`
  const problems = names
    .filter((name) => !exported.includes(name))
    .map((name) => `${at}the bundle of import('${specifier}') does not export "${name}". ${advice}`)
  if (isCommonJs && isPassedOn) {
    problems.push(
      `${at}passes on the module of import('${specifier}'), so that the build cannot check which names are read from it. ${advice}`,
    )
  }
  return problems
}
