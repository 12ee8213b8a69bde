-- What vendors' channels took is counted by channel: `2=10 9=3` are 10 deliveries by the channel with number 2 and 3 by 9. Writes
-- the hourly counts anew: well below a second for a year of an app's hours.
ALTER TABLE statistics ADD COLUMN accepted TEXT NOT NULL DEFAULT '';
UPDATE statistics SET accepted = '2=' || accepted_by_apns WHERE accepted_by_apns > 0;
ALTER TABLE statistics DROP COLUMN accepted_by_apns;
