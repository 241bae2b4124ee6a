// Reads a list by a client of hey-api, and validates it by its schema of zod.

import { createClient } from "./hey_api_zod/client";
import { listPets } from "./hey_api_zod/sdk.gen";
import { zListPetsResponse } from "./hey_api_zod/zod.gen";

const client = createClient({ baseUrl: process.env.API, auth: process.env.KEY });

listPets({ client, query: { limit: 100 } }).then(({ data }) =>
  console.log(JSON.stringify(zListPetsResponse.parse(data).map((pet) => pet.name))),
);
