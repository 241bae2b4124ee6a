// Reads a list by a client of hey-api, and validates it by its schema of valibot.

import { parse } from "valibot";
import { createClient } from "./hey_api_valibot/client";
import { listPets } from "./hey_api_valibot/sdk.gen";
import { vListPetsResponse } from "./hey_api_valibot/valibot.gen";

const client = createClient({ baseUrl: process.env.API, auth: process.env.KEY });

listPets({ client, query: { limit: 100 } }).then(({ data }) =>
  console.log(JSON.stringify(parse(vListPetsResponse, data).map((pet) => pet.name))),
);
