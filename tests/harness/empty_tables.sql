-- DELETE is faster than TRUNCATE on small tables, and most hold only a few rows.
CREATE FUNCTION empty_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE part record;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR part IN SELECT tablename AS name FROM pg_tables
        WHERE schemaname = 'public' AND tablename NOT LIKE '%migration'
    LOOP
        IF pg_relation_size(part.name::regclass) < 65536 THEN
            EXECUTE format('DELETE FROM %I', part.name);
        ELSE
            EXECUTE format('TRUNCATE %I CASCADE', part.name);
        END IF;
    END LOOP;
    FOR part IN SELECT sequencename AS name FROM pg_sequences
        WHERE schemaname = 'public' AND sequencename NOT LIKE '%migration%'
    LOOP
        PERFORM setval(part.name::regclass, 1, false);
    END LOOP;
END $$
