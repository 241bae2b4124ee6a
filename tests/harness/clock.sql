CREATE TABLE test_clock (now_ms bigint);
CREATE OR REPLACE FUNCTION test_now_ms() RETURNS bigint STABLE LANGUAGE sql
    AS 'SELECT coalesce((SELECT now_ms FROM test_clock),
                       (extract(epoch FROM now()) * 1000)::bigint)';
