import { readFile } from 'node:fs/promises'

/**
 * hoodiecrow-imap, the mail server of the demo, loads its commands and plugins by computed names, and the certificate of a TLS server from
 * its folder. With the ending of the files in the names, esbuild bundles every file that they may mean; the demo speaks no TLS.
 */
const CHANGES = [
  ['require("./plugins/" + plugin.toLowerCase())', 'require("./plugins/" + plugin.toLowerCase() + ".js")'],
  ['require("./commands/" + command.toLowerCase())', 'require("./commands/" + command.toLowerCase() + ".js")'],
  ['key: fs.readFileSync(__dirname + "/../cert/server.key"),', ''],
  ['cert: fs.readFileSync(__dirname + "/../cert/server.crt")', ''],
]

/** Node warns of the old constructor outside node_modules. */
const OLD_BUFFER = 'new Buffer('

/** @type {import('esbuild').Plugin} */
export const hoodiecrow = {
  name: 'hoodiecrow',
  setup(plugin) {
    plugin.onLoad({ filter: /\/hoodiecrow-imap\/lib\/.*\.js$/ }, async ({ path }) => {
      let contents = (await readFile(path, 'utf8')).replaceAll(OLD_BUFFER, 'Buffer.from(')
      if (!path.endsWith('/lib/server.js')) return { contents }
      for (const [before, after] of CHANGES) {
        if (!contents.includes(before))
          throw new Error(`${path} no longer contains '${before}'. Check what it has now.`)
        contents = contents.replace(before, after)
      }
      return { contents }
    })
  },
}
