// What a client of openapi-typescript does, once its types are generated.

import createClient from "openapi-fetch";
import type { paths } from "./petstore.js";

const { API, KEY } = process.env;
const headers = { Authorization: `Bearer ${KEY}` };
const client = createClient<paths>({ baseUrl: API!, headers });

const rex = await client.POST("/pets", {
  params: { header: { "Idempotency-Key": "1" } },
  body: { name: "Rex", categoryId: 1 },
});
for (let number = 0; number < 4; number++) {
  await client.POST("/pets", { body: { name: `Pet ${number}.`, categoryId: 1 } });
}
const petId = rex.data!.id;
const max = await client.PATCH("/pets/{petId}", { params: { path: { petId } }, body: { name: "Max" } });
const order = await client.POST("/store/orders", { body: { petId, reference: "Ada" } });

const own: string[] = [];
for (let after: number | undefined = 0; after !== undefined; ) {
  const query: { limit: number; after: number; categoryId: number } = { limit: 2, after, categoryId: 1 };
  const page = await client.GET("/pets", { params: { query } });
  own.push(...page.data!.map((pet) => pet.name));
  const following: string | undefined = /after=([0-9]+)/.exec(page.response.headers.get("Link") ?? "")?.[1];
  after = following === undefined ? undefined : Number(following);
}

const expected = ["Max", "Ada", "Max", "Pet 0.", "Pet 1.", "Pet 2.", "Pet 3."];
const found = [max.data!.name, order.data!.reference, ...own];
if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(JSON.stringify(found));

const all = await client.GET("/pets", { params: { query: { categoryId: 7 } } });
console.log(JSON.stringify(all.data!.map((pet) => pet.name)));
