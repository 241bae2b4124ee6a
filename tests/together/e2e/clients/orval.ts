// Reads a list by a function of orval, and by its schema of zod.

import { listPets } from "./orval_fetch";
import { listPetsResponse } from "./orval_zod";

const { API, KEY } = process.env;
const send = fetch;
globalThis.fetch = (path, options) => send(`${API}${path}`, options);

listPets({ limit: 100 }, { headers: { Authorization: `Bearer ${KEY}` } }).then(({ data }) =>
  console.log(JSON.stringify(listPetsResponse.parse(data).map((pet) => pet.name))),
);
