// The licence texts of the packages in a bundle, which ask for a copy.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/
const TEXT = /^(licen[cs]e|copying|notice)/i

/**
 * @param {import('esbuild').Metafile[]} metafiles of builds in the current directory
 * @returns {string} each package with its version, the name of its licence and every text that it has, in the order of the names
 */
export function licencesOf(metafiles) {
  const files = metafiles.flatMap(({ inputs }) => Object.keys(inputs))
  const folders = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[0] ?? []))
  const packages = [...folders].map((folder) => describePackage(folder))
  return packages
    .sort()
    .join(`\n\n${'-'.repeat(80)}\n\n`)
    .concat('\n')
}

/** A package without a text of its own names its licence and its authors in its package.json. */
function describePackage(folder) {
  const { name, version, license, author, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (typeof license !== 'string') throw new Error(`${folder}/package.json names no licence.`)
  const texts = readdirSync(folder)
    .filter((file) => TEXT.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const authors = typeof author === 'string' ? author : author?.name
  const source = [authors, homepage].filter(Boolean).join(', ')
  return [`${name} ${version} (${license})`, ...(texts.length > 0 ? texts : [source])].join('\n\n')
}
