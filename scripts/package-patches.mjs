import { readFile } from 'node:fs/promises'

/**
 * Changes to files of packages: the first text of each pair is replaced by the second.
 * @type {{ files: RegExp, changes: [string, string][] }[]}
 */
const PATCHES = [
  // hoodiecrow-imap, the mail server of the demo, loads its commands and plugins by computed names, and the certificate of a TLS server
  // from its folder. With the ending of the files in the names, esbuild bundles every file that they may mean; the demo speaks no TLS.
  {
    files: /\/hoodiecrow-imap\/lib\/server\.js$/,
    changes: [
      ['require("./plugins/" + plugin.toLowerCase())', 'require("./plugins/" + plugin.toLowerCase() + ".js")'],
      ['require("./commands/" + command.toLowerCase())', 'require("./commands/" + command.toLowerCase() + ".js")'],
      ['key: fs.readFileSync(__dirname + "/../cert/server.key"),', ''],
      ['cert: fs.readFileSync(__dirname + "/../cert/server.crt")', ''],
    ],
  },
  // imapflow evaluates tables of Japanese and Chinese encodings, a client of proxies and a logger when it is loaded, which takes half of
  // that time. The service decodes texts and logs by itself, and knows no proxies.
  {
    files: /\/imapflow\/dist\/esm\/jp-decoder\.js$|\/libmime\/dist\/esm\/charset\.js$/,
    changes: [
      ["import encodingJapanese from 'encoding-japanese';", ''],
      ['encodingJapanese.convert(', "require('encoding-japanese').convert("],
    ],
  },
  {
    files: /\/libmime\/dist\/esm\/charset\.js$/,
    changes: [
      ["const DBCS_DECODER = iconv.getCodec('gbk').decoder;", ''],
      ['codec.decoder === DBCS_DECODER', "codec.decoder === iconv.getCodec('gbk').decoder"],
    ],
  },
  {
    files: /\/imapflow\/dist\/esm\/proxy-connection\.js$/,
    changes: [
      ["import { SocksClient } from 'socks';", ''],
      ['SocksClient.createConnection(', "require('socks').SocksClient.createConnection("],
    ],
  },
  {
    files: /\/imapflow\/dist\/esm\/logger\.js$/,
    changes: [
      ["import pino from 'pino';", ''],
      ['logger = pino(', "logger = require('pino')("],
    ],
  },
]

/** Node warns of the old constructor outside node_modules. */
const OLD_BUFFER = 'new Buffer('

/** @type {import('esbuild').Plugin} */
export const packagePatches = {
  name: 'package-patches',
  setup(plugin) {
    plugin.onLoad({ filter: /\/(hoodiecrow-imap\/lib|(imapflow|libmime)\/dist\/esm)\/.*\.js$/ }, async ({ path }) => {
      let contents = (await readFile(path, 'utf8')).replaceAll(OLD_BUFFER, 'Buffer.from(')
      for (const { files, changes } of PATCHES) {
        if (!files.test(path)) continue
        for (const [before, after] of changes) {
          if (!contents.includes(before))
            throw new Error(`${path} no longer contains '${before}'. Check what it has now.`)
          contents = contents.replaceAll(before, after)
        }
      }
      return { contents }
    })
  },
}
