import { Resources } from './generated/resources.ts'
import { Client, type ClientOptions } from './http/client.ts'

/** The client of a service: a resource for each kind of object, such as `posthorn.messages`. */
export class Posthorn extends Resources {
  constructor(options: ClientOptions) {
    super(new Client(options))
  }
}
