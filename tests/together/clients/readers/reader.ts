// Reads a list by a client in TypeScript.

import { Configuration, PetsApi } from "./typescript";

const { API, KEY } = process.env;
const pets = new PetsApi(new Configuration({ basePath: API, accessToken: KEY }));

pets.listPets({ limit: 100 }).then((page) => console.log(JSON.stringify(page.map((pet) => pet.name))));
